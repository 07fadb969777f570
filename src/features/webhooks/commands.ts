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
      "id",
      { title: "Event", value: (one) => `${one.eventType} (${one.eventId})` },
      "webhookEndpointId",
      "status",
      "attempts",
      "nextAttemptAt",
      "responseStatus",
      "lastError",
      "replayOf",
      "createdAt",
      "completedAt",
      { title: "Payload", value: (one) => JSON.stringify(one.payload) },
    ],
    sections: (one) => [
      section({
        title: "Attempts",
        items: one.attemptHistory,
        columns: [
          ["number", "Attempt"],
          "startedAt",
          "durationMs",
          {
            title: "Response",
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
      ["number", "Attempt"],
      "startedAt",
      "durationMs",
      { title: "Response", value: (one) => one.responseStatus ?? one.errorKind },
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
      "id",
      "replayOf",
      { title: "Event", value: (one) => `${one.eventType} (${one.eventId})` },
      "webhookEndpointId",
      "status",
    ],
    next: () => "till webhook deliveries shows the result, if a server is running",
  }),
];
