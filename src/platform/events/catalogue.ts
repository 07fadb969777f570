/**
 * Every type of event that the program tells of, grouped by the feature that raises it, with what it means. Endpoints
 * choose among these; the reference page prints them. A change of state has one event: the one that names it.
 */
export const eventCatalogue = {
  invoices: {
    "invoice.created":
      "An invoice was created: as a draft, or open where it was issued in the same request.",
    "invoice.issued": "A draft was issued: it is open, and its payer can pay it.",
    "invoice.updated": "The invoice changed, but not in a way that has an event of its own.",
    "invoice.payment_detected":
      "A further payment was seen that leaves the status as it is, such as a second part that is still less than is due, or a part after the deadline.",
    "invoice.partially_paid":
      "A part was seen, less than is due. The payer can send the rest until the deadline: do not ship.",
    "invoice.confirming":
      "All that is due was seen, a shortfall within the tolerance included, and waits for its confirmations: do not ship yet.",
    "invoice.paid": "All that is due is confirmed: ship.",
    "invoice.overpaid": "More came than was asked for. Comes beside `invoice.paid`, or after it.",
    "invoice.underpaid":
      "Comes only beside `invoice.paid`: the invoice is paid, by a little less than was asked for, within its `underpaymentTolerance`. A shortfall beyond the tolerance is told by `invoice.partially_paid`, and by `invoice.expired` when the deadline passes.",
    "invoice.paid_late":
      "Comes only beside `invoice.paid`: money that came after the deadline was needed to pay the invoice.",
    "invoice.reverted": "A reorganisation of the network took money away that had counted.",
    "invoice.expired":
      "The deadline passed before all that is due was seen. `exception` is `underpaid` where a part had come, and `none` where nothing had.",
    "invoice.canceled": "The invoice was canceled.",
  },
  payments: {
    "payment.detected": "A payment was seen on its network.",
    "payment.confirmed": "A payment has its confirmations.",
    "payment.reverted": "A reorganisation of the network took a payment away.",
    "payment.needs_review": "A payment waits for the merchant to accept or reject it.",
    "payment.accepted": "A payment that waited for the merchant was accepted: it counts.",
    "payment.rejected": "A payment was rejected or reversed and counts nothing.",
    "transfer.unmatched": "Money reached a wallet that no rule gives to an invoice.",
  },
  customers: {
    "customer.created": "A customer was made.",
    "customer.updated": "A customer changed.",
  },
  wallets: {
    "wallet.created": "A receiving wallet was registered.",
    "wallet.archived": "A receiving wallet was taken out of use.",
  },
  organizations: {
    "organization.updated": "The name that payers see, or a legal field, changed.",
    "organization.verification_submitted": "The organization was handed in for review.",
    "organization.approved": "The review approved the organization.",
    "organization.rejected": "The review rejected the organization.",
    "organization.changes_requested": "The review asks for changes.",
    "organization.suspended": "The platform suspended the organization.",
    "organization.resumed": "The platform lifted the suspension.",
  },
  billing: {
    "subscription.created": "A plan was selected.",
    "subscription.activated": "The subscription is active.",
    "subscription.plan_change_scheduled":
      "Another plan is scheduled for the end of the current period.",
    "subscription.plan_changed": "Another plan has begun.",
    "subscription.plan_change_dropped": "A change of plan that was scheduled will not happen.",
    "subscription.trial_ending": "The trial ends within three days.",
    "subscription.past_due": "A platform invoice is overdue.",
    "subscription.suspended": "New invoices are refused until the debt is paid.",
    "subscription.reactivated": "The debt is paid; the subscription is active again.",
    "subscription.canceled": "The subscription has ended.",
    "platform_invoice.issued": "The platform issued an invoice.",
    "platform_invoice.reminder": "A platform invoice is due soon.",
    "platform_invoice.paid": "A platform invoice is paid.",
    "platform_invoice.past_due": "A platform invoice is overdue.",
    "platform_invoice.reverted":
      "A reorganisation took the payment of a platform invoice away: it is to be paid again.",
    "platform_invoice.void": "A platform invoice was voided.",
    "credit.granted": "The platform granted a credit.",
    "usage.threshold_reached": "80 or 100 percent of what the plan includes is used.",
  },
  webhooks: {
    "webhook_endpoint.failing":
      "Nothing reaches another endpoint of the organization for a day, or three.",
    "webhook_endpoint.disabled": "Another endpoint of the organization was disabled.",
    "webhook.ping": "A test that was asked for: sent to the one endpoint that it tests.",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

type Groups = typeof eventCatalogue;
export type EventType = { [Group in keyof Groups]: keyof Groups[Group] & string }[keyof Groups];

/** Every type, in the order of the catalogue. */
export const eventTypes: readonly EventType[] = Object.values(eventCatalogue).flatMap((group) =>
  Object.keys(group),
) as EventType[];
