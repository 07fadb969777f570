/**
 * All event types with their meanings, grouped by the feature that emits them. Webhook endpoints select from them and
 * docs/events.md lists them. Each status change has one event, which is named after it.
 */
export const eventCatalogue = {
  invoices: {
    "invoice.created":
      "An invoice was created, as a draft or, if it was issued in the same request, as open.",
    "invoice.issued": "A draft was issued: the invoice is open and can be paid.",
    "invoice.updated": "The invoice changed in a way that has no event of its own.",
    "invoice.option_chosen":
      "The payer chose another of the invoice's payment options: token, network, address and amounts in tokens have changed. Its earlier addresses and amounts can still be paid.",
    "invoice.payment_detected":
      "A further payment was detected that does not change the status, such as a second part that still does not reach the payable amount, or a part after the deadline.",
    "invoice.partially_paid":
      "Part of the payable amount was detected. The payer can send the rest until the deadline: do not ship.",
    "invoice.confirming":
      "The whole payable amount was detected, or less within the tolerance, and is not confirmed yet: do not ship yet.",
    "invoice.paid":
      "The payable amount is confirmed, or less within the tolerance: ship, as on any newer event whose snapshot has the `status` `paid`.",
    "invoice.overpaid":
      "More than the payable amount was received. Sent together with `invoice.paid`, or later.",
    "invoice.underpaid":
      "Sent only together with `invoice.paid`: the invoice was paid with less than the payable amount, within its `underpaymentTolerance`. A shortfall beyond the tolerance is reported by `invoice.partially_paid`, and by `invoice.expired` when the deadline passes.",
    "invoice.paid_late":
      "Sent only together with `invoice.paid`: a payment after the deadline was needed to reach the payable amount.",
    "invoice.reverted":
      "A chain reorganization removed a payment that had counted. It usually returns, with `invoice.confirming` or `invoice.paid`. No event says that it will not: the checkout session's `nextAction` does.",
    "invoice.expired":
      "The deadline passed before the whole payable amount was detected. `exception` is `underpaid` if part of it had been, and `none` if nothing had.",
    "invoice.canceled": "The invoice was canceled.",
  },
  payments: {
    "payment.detected": "A payment was detected on its network.",
    "payment.confirmed": "A payment reached its required confirmations.",
    "payment.reverted": "A chain reorganization removed a payment.",
    "payment.needs_review": "A payment must be accepted or rejected by the merchant.",
    "payment.accepted": "The merchant accepted a payment that needed a review: it counts.",
    "payment.rejected": "A payment was rejected or reversed and does not count.",
    "transfer.unmatched": "A transfer to a wallet was received that matches no invoice.",
  },
  refunds: {
    "refund.requested":
      "A payer or the merchant asked for a refund of a payment's surplus. Compare the recipient with the payment's sender before you send anything.",
    "refund.sent":
      "The merchant named the transaction that pays a refund, or another one in its place.",
    "refund.confirmed": "The transaction is final and pays the refund.",
    "refund.rejected":
      "A refund will not be sent: the merchant rejected it or, with `refusal` `surplus_gone`, its invoice needs the payment after all, another refund took the money, or a reorganization removed it.",
    "refund.reverted":
      "The named transaction does not prove the refund, which is `requested` again; before you send again, make sure that the refused transaction can no longer be mined. Or its final block was replaced, and the refund is `sent` again.",
  },
  links: {
    "payment_link.created": "A payment link was created.",
    "payment_link.disabled":
      "A payment link was disabled and starts no further payments. A payment that a link starts is an invoice, with the link's id in its metadata and events of its own.",
    "payment_link.limited":
      "A payment link refused a payer, because too many invoices of the link or of all links are unpaid, or too many of those from the payer's range of client addresses. `limit` says which: with `link` and `organization`, everybody is refused; with `range_at_link` and `range_in_organization`, others can still pay. Raised for a link at most once an hour that everybody is refused, and at most once an hour that ranges are. If strangers have filled the link, disable it, and publish another one where only your customers see it.",
  },
  customers: {
    "customer.created": "A customer was created.",
    "customer.updated": "A customer changed.",
  },
  wallets: {
    "wallet.created": "A receiving wallet was registered.",
    "wallet.archived":
      "A receiving wallet was archived. If it was the default of its network, invoices without a `walletId` are paid at the reserves, or refused.",
    "wallet.default_changed":
      "A wallet became the default of its network or a reserve, or is neither any more: `isDefault` and `reservePosition` say which. Only an owner and the operator can choose it; besides, the first wallet of an organization becomes it. New invoices are paid at the default wallet, so let this event alarm somebody.",
    "wallet_capacity.half_used":
      "Half of the amounts that distinguish invoices of one price at an address are in use. Once all are, further invoices of that price are refused: register an extended public key and choose it as the default, or another wallet as a reserve. Repeated only after less than half was in use.",
  },
  inboxes: {
    "wallet_inbox.full":
      "A wallet got so many transfers that match no invoice that some of a day were not recorded, as happens at the address of an exchange. Raised at most once a day and wallet.",
  },
  organizations: {
    "organization.updated":
      "The organization's display name, its logo or a legal field changed, or a requested name or logo was decided.",
    "organization.verification_submitted": "The organization was submitted for review.",
    "organization.approved": "The review approved the organization.",
    "organization.rejected": "The review rejected the organization.",
    "organization.changes_requested": "The review requested changes.",
    "organization.suspended": "The platform suspended the organization.",
    "organization.resumed": "The platform lifted the suspension.",
  },
  billing: {
    "subscription.created": "A plan was selected.",
    "subscription.activated": "The subscription is active.",
    "subscription.plan_change_scheduled":
      "Another plan is scheduled for the end of the current period.",
    "subscription.plan_changed": "Another plan took effect.",
    "subscription.plan_change_dropped":
      "A scheduled plan change was dropped and will not take effect.",
    "subscription.trial_ending": "The trial ends within three days.",
    "subscription.past_due": "A platform invoice is overdue.",
    "subscription.suspended":
      "The subscription is suspended: new invoices are refused until the outstanding platform invoices are paid.",
    "subscription.reactivated":
      "The outstanding platform invoices were paid; the subscription is active again.",
    "subscription.canceled": "The subscription ended.",
    "platform_invoice.issued": "The platform issued an invoice.",
    "platform_invoice.reminder": "A platform invoice is due soon.",
    "platform_invoice.paid": "A platform invoice was paid.",
    "platform_invoice.past_due": "A platform invoice is overdue.",
    "platform_invoice.reverted":
      "A chain reorganization removed the payment of a platform invoice: it must be paid again.",
    "platform_invoice.void": "A platform invoice was voided.",
    "credit.granted": "The platform granted a credit.",
    "usage.threshold_reached": "80 or 100 percent of the plan's included invoices are used.",
  },
  audit: {
    "audit.head":
      "The head of the audit chain, once an hour, to the platform's organization alone. Keep it outside Till: `till audit verify --head POSITION:HASH` proves later that no entry up to it was changed or taken away.",
  },
  webhooks: {
    "webhook_endpoint.failing":
      "Deliveries to another endpoint of the organization have failed for one day, or for three.",
    "webhook_endpoint.disabled": "Another endpoint of the organization was disabled.",
    "webhook.ping": "A requested test, sent only to the endpoint under test.",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

type Groups = typeof eventCatalogue;
export type EventType = { [Group in keyof Groups]: keyof Groups[Group] & string }[keyof Groups];

/** All types, in the order of the catalogue. */
export const eventTypes: readonly EventType[] = Object.values(eventCatalogue).flatMap((group) =>
  Object.keys(group),
) as EventType[];
