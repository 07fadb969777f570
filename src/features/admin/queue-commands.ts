import { eventTypes } from "../../platform/events/catalogue.ts";
import { queues } from "../../platform/jobs/queue.ts";
import { deliveryStatuses } from "../webhooks/status.ts";
import {
  command,
  neededOrganization,
  pageFlags,
  type CommandArgument,
} from "../../http/declare/command.ts";
import { listOwnedDeliveries } from "./oversight.ts";
import { getFailedJob, listFailedJobs, listQueues, retryJob } from "./queues.ts";

const job: CommandArgument = {
  name: "job",
  description: "its id, such as job_01h…",
  takes: ["job"],
};

export const queueCommands = [
  command({
    name: "queue list",
    summary: "List the background queues and their job counts",
    examples: ["till queue list", "till queue list --json"],
    effect: "read",
    handle: (app) => listQueues(app),
    present: (queues) => ({ data: [...queues], nextCursor: null }),
    columns: ["queue", "waiting", "active", "delayed", "failed"],
    identify: (one) => one.queue,
  }),
  command({
    name: "queue retry",
    summary: "Run a failed job again, with a full set of attempts",
    arguments: [job],
    examples: [
      "till queue retry job_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till queue retry job_01kq3v5m8w2f6n9r4t7x0z1c3e --dry-run",
    ],
    effect: "write",
    async look(app, call) {
      const { queue, name, id, attempts, failedReason } = await getFailedJob(
        app,
        call.argument("job"),
      );
      return {
        subject: `${name} (${id}), in the queue ${queue}`,
        facts: [
          ["Attempts", attempts],
          ["Reason", failedReason],
        ],
        changes: () => [["State", "failed", "waiting"]],
      };
    },
    handle: (app, call) => retryJob(app, call.context, call.argument("job")),
    async present(failed) {
      return (await import("./oversight-records.ts")).presentFailedJob(failed);
    },
    columns: ["id", "queue", "name", "failedAt", ["failedReason", "Reason"]],
    next: (one) => `till queue failed ${one.queue} shows whether it fails again`,
  }),
  command({
    name: "queue failed",
    summary: "List failed jobs and undeliverable webhooks, latest failure first",
    arguments: [
      {
        name: "queue",
        description: "webhooks, chain, billing or maintenance (default: all)",
        isOptional: true,
        choices: queues,
      },
    ],
    flags: [...pageFlags],
    examples: ["till queue failed", "till queue failed webhooks --limit 100 --json"],
    effect: "read",
    handle: (app, call) =>
      listFailedJobs(app, call.optionalArgument("queue") ?? null, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
      }),
    async present(page) {
      return (await import("./oversight-records.ts")).presentFailedJobs(page);
    },
    columns: [
      "queue",
      "name",
      "attempts",
      "failedAt",
      ["failedReason", "Reason"],
      { title: "Retry with", value: ({ id }) => retryCommand(id) },
    ],
  }),
  command({
    name: "webhook deliveries",
    summary: "List webhook deliveries, newest first",
    flags: [
      {
        ...neededOrganization,
        description: `with --endpoint or --event-type: ${neededOrganization.description}; otherwise all`,
        isNeededIf: (call) =>
          call.flag("endpoint") !== undefined || call.flag("event-type") !== undefined,
      },
      {
        flags: "--status <status>",
        description:
          "only deliveries with this status: pending, in_progress, succeeded, failed or dead_letter",
        choices: deliveryStatuses,
      },
      {
        flags: "--endpoint <id>",
        description: "only deliveries to this endpoint",
        takes: ["webhookEndpoint"],
        field: "webhookEndpointId",
      },
      {
        flags: "--event-type <type>",
        description: "only events of this type",
        choices: eventTypes,
      },
      ...pageFlags,
    ],
    examples: [
      "till webhook deliveries --status dead_letter",
      "till webhook deliveries --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --event-type invoice.paid --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { DeliveryCommandQuery } = await import("./oversight-records.ts");
      return listOwnedDeliveries(
        app,
        call.parse(DeliveryCommandQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          organizationId: call.flag("organization"),
          status: call.flag("status"),
          webhookEndpointId: call.flag("endpoint"),
          eventType: call.flag("event-type"),
        }),
      );
    },
    async present(page) {
      return (await import("./oversight-records.ts")).presentPlatformDeliveries(page);
    },
    columns: [
      "id",
      "organizationName",
      "eventType",
      "status",
      "attempts",
      "responseStatus",
      "nextAttemptAt",
      "url",
    ],
  }),
];

/** Returns the command that retries failed work: a webhook delivery or a job. */
function retryCommand(id: string): string {
  return id.startsWith("whd_") ? `till webhook replay ${id}` : `till queue retry ${id}`;
}
