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
  usage: "UsageSummary",
  webhook_endpoint: "WebhookEndpoint",
  webhook: "WebhookEndpoint",
  transfer: "Transfer",
};

/** Every type of event in Markdown, for docs/events.md. */
export function eventsReference(): string {
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
    ...sections,
  ].join("\n");
}

function recordOf(type: EventType): string {
  return records[type.slice(0, type.indexOf(".")) as Noun];
}
