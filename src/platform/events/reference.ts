import { day } from "../../kernel/clock.ts";
import { eventKeptFor } from "./outbox.ts";
import { eventCatalogue, type EventType } from "./catalogue.ts";

type Noun = EventType extends infer Type
  ? Type extends `${infer Name}.${string}`
    ? Name
    : never
  : never;

/** The API record in `data`, by the part of the type before the dot. */
const records: Readonly<Record<Noun, string>> = {
  invoice: "Invoice",
  payment: "Payment",
  customer: "Customer",
  wallet: "Wallet",
  wallet_capacity: "WalletCapacity",
  wallet_inbox: "WalletInbox",
  organization: "Organization",
  subscription: "Subscription",
  platform_invoice: "PlatformInvoice",
  credit: "AdminCredit",
  usage: "UsageThreshold",
  audit: "AuditHead",
  webhook_endpoint: "WebhookEndpoint",
  webhook: "WebhookEndpoint",
  transfer: "Transfer",
  refund: "Refund",
  payment_link: "PaymentLink",
};

/** The records of types that say more than the others of their noun. */
const ownRecords: Readonly<Partial<Record<EventType, string>>> = {
  "payment_link.limited": "LimitedPaymentLink",
};

/** How long deliveries are kept, in milliseconds. */
interface DeliveriesKept {
  readonly deliveries: number;
  readonly deadLetters: number;
}

/** Returns docs/events.md: all event types in Markdown. */
export function eventsReference(kept: DeliveriesKept): string {
  const sections = Object.entries(eventCatalogue).flatMap(([group, types]) => [
    `## ${group.charAt(0).toUpperCase()}${group.slice(1)}`,
    "",
    "| type | means | `data` |",
    "| --- | --- | --- |",
    ...Object.entries(types).map(
      ([type, meaning]) => `| \`${type}\` | ${meaning} | \`${recordOf(type as EventType)}\` |`,
    ),
    "",
  ]);
  return [
    "# Events",
    "",
    "A webhook endpoint selects from these types; an endpoint that selects none receives all. There are no patterns such as `invoice.*`. A shop needs all types of invoices, and at a shared address also `transfer.unmatched` and `wallet_capacity.half_used`. [Receiving webhooks](guides/webhooks.md) has a receiver.",
    "",
    "A webhook's body is `{ id, type, timestamp, data, apiVersion, organizationId, sequence }`: `id` is the event's, the same for every attempt and replay, and in the header `webhook-id` too; `sequence` numbers the events of the endpoint without gaps. `GET /v1/organizations/{organizationId}/events` returns the same bodies, oldest first, without the `sequence`.",
    "",
    "`data` is the record in the column's schema ([records](api/records.md)) at the time of the change, with `objectVersion`, which each change of the object increments, and with `previousStatus` if the status changed. Decide by the record and not by the type: the first event that reaches you after a change may be a later one. Ignore an event whose `objectVersion` is not higher than the one that you have of the object; the events of one change share it.",
    "",
    `Events are kept for ${days(eventKeptFor)}, which is how far back the events list reaches. Successful deliveries are kept for ${days(kept.deliveries)} with the request and its attempts, dead letters (deliveries that were given up) for ${days(kept.deadLetters)}, and pending deliveries until they end. Deleted events and deliveries can be neither listed nor replayed.`,
    "",
    ...sections,
  ].join("\n");
}

function days(milliseconds: number): string {
  return `${String(milliseconds / day)} days`;
}

/** Returns the name of the record in the `data` of an event. */
export function recordOf(type: EventType): string {
  return ownRecords[type] ?? records[type.slice(0, type.indexOf(".")) as Noun];
}
