import { defineProblem } from "../../kernel/errors.ts";

export const CurrencyNotBilled = defineProblem({
  code: "currency_not_billed",
  status: 422,
  title: "Plans are not billed in this currency",
  remedy:
    "Choose one of the currencies that `detail` names: those are the currencies of the plans.",
});
export const BillingCurrencyDiffers = defineProblem({
  code: "billing_currency_differs",
  status: 422,
  title: "The organization is billed in another currency",
  remedy:
    "Send the amount in the currency of the organization's subscription, which `detail` names.",
});
export const DiscountCurrencyMismatch = defineProblem({
  code: "discount_currency_mismatch",
  status: 422,
  title: "A fixed discount needs a currency, a percentage must not have one",
  remedy: "Send `currency` with a fixed discount, and omit it with a percentage.",
});
export const BillingAmountTooLarge = defineProblem({
  code: "billing_amount_too_large",
  status: 422,
  title: "The amount is too large",
  remedy: "Choose a smaller amount: `detail` names the limit.",
});
export const ReceiveWalletUnusable = defineProblem({
  code: "receive_wallet_unusable",
  status: 422,
  title: "The platform cannot be paid at this wallet",
  remedy:
    "Choose an active wallet of the platform organization whose network and token are enabled.",
});
export const NoSubscription = defineProblem({
  code: "no_subscription",
  status: 404,
  title: "The organization has no subscription",
  remedy: "Select a plan with `selectPlan`.",
});
export const UnknownPlan = defineProblem({
  code: "unknown_plan",
  status: 422,
  title: "The plan does not exist",
  remedy: "Choose a plan of `listPlans`.",
});
export const PlanCurrencyDiffers = defineProblem({
  code: "plan_currency_differs",
  status: 422,
  title: "The plan is billed in another currency",
  remedy: "Choose a plan in the currency of the subscription.",
});
export const SubscriptionExists = defineProblem({
  code: "subscription_exists",
  status: 409,
  title: "The organization already has a subscription",
  remedy: "Change the plan with `changePlan` instead.",
});
export const SubscriptionNotChangeable = defineProblem({
  code: "subscription_not_changeable",
  status: 409,
  title: "The subscription cannot be changed now",
  remedy:
    "Read the subscription: a canceled one needs `selectPlan`, and a suspended one has to be paid first.",
});
export const PlatformInvoiceUnpaid = defineProblem({
  code: "platform_invoice_unpaid",
  status: 409,
  title: "A platform invoice is not paid",
  remedy: "Pay the platform invoice that `detail` names, then select a plan again.",
});
export const NoReceiveWallet = defineProblem({
  code: "no_receive_wallet",
  status: 409,
  title: "The platform cannot be paid yet",
  remedy: "Ask the operator: a platform admin has to set the wallet at which the platform is paid.",
});
export const BillingBroken = defineProblem({
  code: "billing_broken",
  status: 422,
  title: "Billing records do not match their inputs",
});
