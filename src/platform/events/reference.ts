import { day } from "../../kernel/clock.ts";
import { eventKeptFor } from "./retention.ts";
import { eventCatalogue, type EventType } from "./catalogue.ts";

type Noun = EventType extends infer Type
  ? Type extends `${infer Name}.${string}`
    ? Name
    : never
  : never;

/** The record that `data` holds, by the word before the dot of a type. */
const records: Readonly<Record<Noun, string>> = {
  invoice: "Invoice",
  payment: "Payment",
  customer: "Customer",
  wallet: "Wallet",
  organization: "Organization",
  subscription: "Subscription",
  platform_invoice: "PlatformInvoice",
  credit: "AdminCredit",
  usage: "UsageThreshold",
  webhook_endpoint: "WebhookEndpoint",
  webhook: "WebhookEndpoint",
  transfer: "Transfer",
};

/** How long what carried events to endpoints is kept, in milliseconds. */
export interface DeliveriesKept {
  readonly deliveries: number;
  readonly deadLetters: number;
}

/** Every type of event in Markdown, for docs/events.md. */
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
    "Printed from the one catalogue in `src/platform/events/catalogue.ts`. Endpoints choose among these types; an endpoint that chooses none is sent all.",
    "",
    "A webhook's body is `{ type, timestamp, data, apiVersion, organizationId, sequence }`: `sequence` counts the events of its endpoint without gaps. `GET /v1/organizations/{organizationId}/events` gives the same bodies, oldest first, with the event's `id` instead of the `sequence`; the `id` is the `webhook-id` of the deliveries.",
    "",
    "`data` is the record that the column names, as docs/api.md has it, as it was at the change, with `objectVersion`, which counts up with each change of the object, and with `previousStatus` where a status changed. Drop what is older than the version that you have.",
    "",
    `Events are kept for ${days(eventKeptFor)}: so far back does the stream reach. A delivery that arrived is kept for ${days(kept.deliveries)} with what was sent and its attempts, one that was given up, a dead letter, for ${days(kept.deadLetters)}, and one whose next attempt is to come for as long as it takes. What is forgotten can be neither listed nor replayed.`,
    "",
    ...sections,
  ].join("\n");
}

function days(milliseconds: number): string {
  return `${String(milliseconds / day)} days`;
}

function recordOf(type: EventType): string {
  return records[type.slice(0, type.indexOf(".")) as Noun];
}
