import { defineProblem } from "../../kernel/errors.ts";

export const CurrencyNotBilled = defineProblem({
  code: "currency_not_billed",
  status: 422,
  title: "Plans are not billed in this currency",
});
export const BillingCurrencyDiffers = defineProblem({
  code: "billing_currency_differs",
  status: 422,
  title: "The organization is billed in another currency",
});
export const DiscountCurrencyMismatch = defineProblem({
  code: "discount_currency_mismatch",
  status: 422,
  title: "A fixed discount needs a currency, a percentage must not have one",
});
export const BillingAmountTooLarge = defineProblem({
  code: "billing_amount_too_large",
  status: 422,
  title: "The amount is too large",
});
export const ReceiveWalletUnusable = defineProblem({
  code: "receive_wallet_unusable",
  status: 422,
  title: "The platform cannot be paid at this wallet",
});
export const NoSubscription = defineProblem({
  code: "no_subscription",
  status: 404,
  title: "The organization has no subscription",
});
export const UnknownPlan = defineProblem({
  code: "unknown_plan",
  status: 422,
  title: "The plan does not exist",
});
export const PlanCurrencyDiffers = defineProblem({
  code: "plan_currency_differs",
  status: 422,
  title: "The plan is billed in another currency",
});
export const SubscriptionExists = defineProblem({
  code: "subscription_exists",
  status: 409,
  title: "The organization already has a subscription",
});
export const SubscriptionNotChangeable = defineProblem({
  code: "subscription_not_changeable",
  status: 409,
  title: "The subscription cannot be changed now",
});
export const PlatformInvoiceUnpaid = defineProblem({
  code: "platform_invoice_unpaid",
  status: 409,
  title: "A platform invoice is not paid",
});
export const NoReceiveWallet = defineProblem({
  code: "no_receive_wallet",
  status: 409,
  title: "The platform cannot be paid yet",
});
export const BillingBroken = defineProblem({
  code: "billing_broken",
  status: 422,
  title: "Billing records do not match their inputs",
});
