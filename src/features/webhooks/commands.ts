import { commandsOf, section } from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { WebhookService } from "./service.ts";

const command = commandsOf<WebhookService>();

/** Maximum number of response characters shown in the table. */
const shownLength = 60;

export const webhookCommands = [
  command({
    name: "webhook show",
    summary: "Show a delivery of any organization with its payload and attempts",
    arguments: [{ name: "delivery", description: "its id, such as whd_01h…" }],
    examples: [
      "till webhook show whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook show whd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) =>
      service.findDelivery(call.argument("delivery") as Id<"webhookDelivery">),
    async present(detail) {
      return (await import("./present.ts")).presentDeliveryDetail(detail);
    },
    columns: [
      { title: "Delivery", value: (one) => one.id },
      { title: "Event", value: (one) => `${one.eventType} (${one.eventId})` },
      { title: "Endpoint", value: (one) => one.webhookEndpointId },
      { title: "Status", value: (one) => one.status },
      { title: "Attempts", value: (one) => one.attempts },
      { title: "Next attempt", value: (one) => one.nextAttemptAt },
      { title: "Last response", value: (one) => one.responseStatus },
      { title: "Last error", value: (one) => one.lastError },
      { title: "Replay of", value: (one) => one.replayOf },
      { title: "Created", value: (one) => one.createdAt },
      { title: "Completed", value: (one) => one.completedAt },
      { title: "Payload", value: (one) => JSON.stringify(one.payload) },
    ],
    sections: (one) => [
      section({
        title: "Attempts",
        items: one.attemptHistory,
        columns: [
          { title: "ATTEMPT", value: (attempt) => attempt.number },
          { title: "STARTED", value: (attempt) => attempt.startedAt },
          { title: "DURATION MS", value: (attempt) => attempt.durationMs },
          {
            title: "RESPONSE",
            value: (attempt) => attempt.responseStatus ?? attempt.errorKind ?? null,
          },
        ],
      }),
    ],
    next: (one) => `till webhook attempts ${one.id} shows the receiver's responses`,
  }),
  command({
    name: "webhook attempts",
    summary: "List the attempts of a delivery with the beginning of each response",
    arguments: [{ name: "delivery", description: "its id, such as whd_01h…" }],
    examples: [
      "till webhook attempts whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook attempts whd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) =>
      service.listAttempts(call.argument("delivery") as Id<"webhookDelivery">),
    async present(attempts) {
      const { presentAttempt } = await import("./present.ts");
      return { data: attempts.map(presentAttempt), nextCursor: null };
    },
    columns: [
      { title: "ATTEMPT", value: (one) => one.number },
      { title: "STARTED", value: (one) => one.startedAt },
      { title: "DURATION MS", value: (one) => one.durationMs },
      { title: "RESPONSE", value: (one) => one.responseStatus ?? one.errorKind },
      {
        title: "BODY",
        // Shortened to one line; --json prints the stored 4 KiB.
        value: (one) => one.bodyExcerpt?.replaceAll(/\s+/g, " ").slice(0, shownLength) ?? null,
      },
    ],
    identify: (one) => String(one.number),
  }),
  command({
    name: "webhook replay",
    summary: "Send a completed delivery of any organization again",
    arguments: [{ name: "delivery", description: "its id, such as whd_01h…" }],
    examples: [
      "till webhook replay whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook replay whd_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    confirm: (call) => `Send ${call.argument("delivery")} to its receiver again?`,
    handle: (service, call) =>
      service.replay(call.context, call.argument("delivery") as Id<"webhookDelivery">),
    async present(delivery) {
      return (await import("./present.ts")).presentDelivery(delivery);
    },
    columns: [
      { title: "Delivery", value: (one) => one.id },
      { title: "Replay of", value: (one) => one.replayOf },
      { title: "Event", value: (one) => `${one.eventType} (${one.eventId})` },
      { title: "Endpoint", value: (one) => one.webhookEndpointId },
      { title: "Status", value: (one) => one.status },
    ],
    next: () => "till webhook deliveries shows the result, if a server is running",
  }),
];
