import { defineProblem } from "../../kernel/errors.ts";

export const UnsupportedCurrency = defineProblem({
  code: "unsupported_currency",
  status: 422,
  title: "The settlement currency is not supported",
});
export const TokenNotEnabled = defineProblem({
  code: "token_not_enabled",
  status: 422,
  title: "The token is not enabled on the network",
});
export const AmountTooLarge = defineProblem({
  code: "amount_too_large",
  status: 422,
  title: "The amount is too large",
});
export const AmountTooSmall = defineProblem({
  code: "amount_too_small",
  status: 422,
  title: "The amount is too small to be distinguished from dust",
});
export const NoWallet = defineProblem({
  code: "no_wallet",
  status: 422,
  title: "No active wallet can receive the payment",
});
export const WalletCapacityExhausted = defineProblem({
  code: "wallet_capacity_exhausted",
  status: 409,
  title: "The wallet has no free amount for another invoice of this price",
});
export const ExternalIdConflict = defineProblem({
  code: "external_id_conflict",
  status: 409,
  title: "The externalId belongs to another invoice",
});
export const InvoiceNotEditable = defineProblem({
  code: "invoice_not_editable",
  status: 409,
  title: "Only drafts can be changed",
});
export const InvoiceNotCancelable = defineProblem({
  code: "invoice_not_cancelable",
  status: 409,
  title: "The invoice cannot be canceled",
});
export const ManagedByBilling = defineProblem({
  code: "managed_by_billing",
  status: 409,
  title: "The platform's billing manages the invoice",
});
export const NetworkNotReady = defineProblem({
  code: "network_not_ready",
  status: 503,
  title: "The network has not been reached yet",
});
export const RateUnavailable = defineProblem({
  code: "rate_unavailable",
  status: 503,
  title: "No current exchange rate is available",
});
// Thrown by billing through the issuing gate. They are defined here because billing depends on invoices.
export const SubscriptionRequired = defineProblem({
  code: "subscription_required",
  status: 403,
  title: "Issuing invoices requires a subscription",
});
export const SubscriptionSuspended = defineProblem({
  code: "subscription_suspended",
  status: 403,
  title: "The subscription is suspended",
});
export const PlanLimitReached = defineProblem({
  code: "plan_limit_reached",
  status: 403,
  title: "All invoices that the plan includes have been issued",
});
export const OptionNotOffered = defineProblem({
  code: "option_not_offered",
  status: 422,
  title: "The invoice does not offer this token on this network",
});
export const OptionLimitReached = defineProblem({
  code: "option_limit_reached",
  status: 409,
  title: "No further option of the invoice can be chosen",
});
export const InvoiceNotOpen = defineProblem({
  code: "invoice_not_open",
  status: 409,
  title: "The invoice is not open",
});
