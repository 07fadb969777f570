import { defineProblem } from "../../kernel/errors.ts";

export const UnsupportedCurrency = defineProblem({
  code: "unsupported_currency",
  status: 422,
  title: "The settlement currency is not supported",
  remedy: "Choose one of the settlement currencies that `detail` names.",
});
export const TokenNotEnabled = defineProblem({
  code: "token_not_enabled",
  status: 422,
  title: "The token is not enabled on the network",
  remedy: "Choose a token that `listNetworks` shows for the network.",
});
export const AmountTooLarge = defineProblem({
  code: "amount_too_large",
  status: 422,
  title: "The amount is too large",
  remedy: "Split the amount into several invoices, each below the limit that `detail` names.",
});
export const AmountTooSmall = defineProblem({
  code: "amount_too_small",
  status: 422,
  title: "The amount is too small to be distinguished from dust",
  remedy:
    "Choose a larger amount, or combine several orders in one invoice: a payment of this size would be ignored as dust.",
});
export const NoWallet = defineProblem({
  code: "no_wallet",
  status: 422,
  title: "No active wallet can receive the payment",
  remedy:
    "Register a wallet for the invoice's network; or omit `walletId`, for the default wallet of the network.",
});
export const NoDefaultWallet = defineProblem({
  code: "no_default_wallet",
  status: 409,
  title: "The network has no default wallet that can receive the payment",
  remedy:
    "An owner chooses the default wallet of the network with `setDefaultWallet`, or the operator with `till wallet default`. Until then, name a `walletId` in each invoice.",
});
export const WalletCapacityExhausted = defineProblem({
  code: "wallet_capacity_exhausted",
  status: 409,
  title: "The wallet has no free amount for another invoice of this price",
  remedy:
    "Register a wallet by its extended public key, which gives each invoice its own address, and let an owner choose it with `setDefaultWallet` as the default or as a reserve. Or wait until open invoices of about this price end.",
});
export const ExternalIdConflict = defineProblem({
  code: "external_id_conflict",
  status: 409,
  title: "The externalId belongs to another invoice",
  remedy:
    "Read the invoice that `detail` names: the order has one already, and `errors` names the fields in which your request differs. For another order, or one whose price has changed, send another `externalId`.",
});
export const InvoiceNotEditable = defineProblem({
  code: "invoice_not_editable",
  status: 409,
  title: "Only drafts can be changed",
  remedy: "Cancel the invoice and create another one: only drafts can be changed.",
});
export const InvoiceNotCancelable = defineProblem({
  code: "invoice_not_cancelable",
  status: 409,
  title: "The invoice cannot be canceled",
  remedy:
    "Reverse the payments that `detail` names, the last one with `cancel`, which cancels the invoice in the same step; then refund them, if the order is not delivered. An invoice that is canceled already needs nothing.",
});
export const ManagedByBilling = defineProblem({
  code: "managed_by_billing",
  status: 409,
  title: "The platform's billing manages the invoice",
  remedy:
    "Change the platform invoice that this invoice collects instead, by a credit or an adjustment.",
});
export const NetworkNotReady = defineProblem({
  code: "network_not_ready",
  status: 503,
  title: "The network has not been reached yet",
  remedy:
    "Try again in some seconds: no block of the network was read since the server's first start. If it stays, the operator checks the providers.",
});
export const RateUnavailable = defineProblem({
  code: "rate_unavailable",
  status: 503,
  title: "No current exchange rate is available",
  remedy:
    "Try again in a minute, or settle in a currency that the token is pegged to. The operator sees the failing source with `till rates list`.",
});
// Thrown by billing through the issuing gate. They are defined here because billing depends on invoices.
export const SubscriptionRequired = defineProblem({
  code: "subscription_required",
  status: 403,
  title: "Issuing invoices requires a subscription",
  remedy: "Select a plan with `selectPlan`. Drafts need no plan.",
});
export const SubscriptionSuspended = defineProblem({
  code: "subscription_suspended",
  status: 403,
  title: "The subscription is suspended",
  remedy: "Pay the `openInvoice` of the subscription. Invoices that are open can still be paid.",
});
export const PlanLimitReached = defineProblem({
  code: "plan_limit_reached",
  status: 403,
  title: "All invoices that the plan includes have been issued",
  remedy:
    "Wait for the next period, or change to a plan with more invoices, which takes effect then. Drafts can be created meanwhile.",
});
export const OptionNotOffered = defineProblem({
  code: "option_not_offered",
  status: 422,
  title: "The invoice does not offer this token on this network",
  remedy: "Read the checkout session and choose one of its `options`.",
});
export const OptionLimitReached = defineProblem({
  code: "option_limit_reached",
  status: 409,
  title: "No further option of the invoice can be chosen",
  remedy: "Choose one of the options that were chosen before, which keep their quotes.",
});
/** The limits of unpaid invoices that payers start at links. A limit of a range refuses one range of client addresses alone. */
export const linkLimitNames = [
  "link",
  "organization",
  "range_at_link",
  "range_in_organization",
] as const;
export type LinkLimitName = (typeof linkLimitNames)[number];

const AnyLinkLimitReached = defineProblem({
  code: "link_limit_reached",
  status: 409,
  title: "Too many invoices of payment links are unpaid",
  remedy: "Try again later, or ask the merchant.",
});
export class LinkLimitReached extends AnyLinkLimitReached {
  readonly limit: LinkLimitName;

  constructor(detail: string, limit: LinkLimitName) {
    super(detail);
    this.limit = limit;
  }
}
export const InvoiceNotOpen = defineProblem({
  code: "invoice_not_open",
  status: 409,
  title: "The invoice is not open",
  remedy:
    "Read the checkout session again and show its state: the way to pay can be changed only before a payment.",
});
