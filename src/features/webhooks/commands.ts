import * as z from "zod";
import { id, instant } from "../../http/declare/record.ts";
import type { App } from "../../app.ts";
import {
  command,
  Interrupted,
  neededOrganization,
  section,
  type CommandArgument,
  type CommandCall,
  type Summary,
} from "../../http/declare/command.ts";
import { defineProblem, InvalidRequest, Problem } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import {
  getAnyWebhookDelivery,
  listAnyWebhookAttempts,
  listReplayableDeliveries,
  replayAnyWebhookDelivery,
} from "./deliveries.ts";
import type { DeliveryView, ReplayPeriod } from "./delivery/store.ts";
import { eventColumn, presentAttempt, presentDelivery } from "./records.ts";

const deliveryArgument: CommandArgument = {
  name: "webhookDeliveryId",
  description: "the id of the webhook delivery, such as whd_01h…",
};

/** Maximum number of response characters shown in the table. */
const shownLength = 60;

/** The statuses of deliveries that can be replayed. */
const replayedStatuses = ["dead_letter", "succeeded"] as const;

export const webhookCommands = [
  command({
    name: "webhook attempts",
    summary: "List the attempts of a delivery with the beginning of each response",
    arguments: [deliveryArgument],
    examples: [
      "till webhook attempts whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook attempts whd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) =>
      listAnyWebhookAttempts(app, call.argument("webhookDeliveryId") as Id<"webhookDelivery">),
    present: (attempts) => ({ data: attempts.map(presentAttempt), nextCursor: null }),
    columns: [
      ["number", "Attempt"],
      "startedAt",
      "durationMs",
      { title: "Response", value: (one) => one.responseStatus ?? one.errorKind },
      { title: "Odd", value: (one) => one.oddity },
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
    summary: "Send a completed delivery again, or all undelivered ones of a period",
    arguments: [{ ...deliveryArgument, isOptional: true }],
    flags: [
      {
        ...neededOrganization,
        description: `with --from: ${neededOrganization.description}`,
        isNeededIf: (call) => call.flag("from") !== undefined,
      },
      {
        flags: "--from <time>",
        description: "deliveries created at or after this time, such as 2031-01-31T00:00:00Z",
      },
      { flags: "--to <time>", description: "deliveries created before this time (default: now)" },
      {
        flags: "--status <status>",
        description: "with --from: dead_letter (the default) or succeeded",
        choices: replayedStatuses,
      },
      {
        flags: "--endpoint <id>",
        description: "with --from: only deliveries to this endpoint",
        takes: ["webhookEndpoint"],
        field: "webhookEndpointId",
      },
    ],
    examples: [
      "till webhook replay whd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till webhook replay --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --from 2031-01-31T08:00:00Z --to 2031-01-31T12:00:00Z --dry-run",
    ],
    effect: "write",
    async handle(app, call, looked): Promise<Replayed> {
      const delivery = call.optionalArgument("webhookDeliveryId") as
        | Id<"webhookDelivery">
        | undefined;
      if (delivery !== undefined) {
        return {
          delivery: await call.attempt(replayAnyWebhookDelivery(app, call.context, delivery)),
        };
      }
      const found = await deliveriesOf(app, call);
      return replayAll(
        (id) => replayAnyWebhookDelivery(app, call.context, id),
        call,
        found.filter(({ id }) => looked?.ids?.has(id) ?? true),
      );
    },
    present: (replayed: Replayed) =>
      "delivery" in replayed
        ? presentDelivery(replayed.delivery)
        : {
            count: replayed.deliveries.length,
            data: replayed.deliveries.map(presentDelivery),
            nextCursor: null,
          },
    async look(app, call) {
      const id = call.optionalArgument("webhookDeliveryId") as Id<"webhookDelivery"> | undefined;
      if (id === undefined) {
        const found = await deliveriesOf(app, call);
        return {
          ids: new Set(found.map(({ id }) => id)),
          subject: `${counted(found)} of ${call.organization()}`,
          facts: [
            ["First event", eventOf(found[0])],
            ["Last event", eventOf(found.at(-1))],
          ],
        };
      }
      const { delivery } = await getAnyWebhookDelivery(app, id);
      return {
        subject: `${delivery.eventType} of ${delivery.id}, ${delivery.status}`,
        facts: [
          ["Event", delivery.eventId],
          ["Endpoint", delivery.endpointId],
          ["Attempts", delivery.attempts],
          ["Last error", delivery.lastError],
        ],
        changes: () => [["New delivery", null, "pending"]],
      };
    },
    confirm: (_call, subject) => `Send ${subject}, again?`,
    columns: ["id", "replayOf", eventColumn, "webhookEndpointId", "status"],
    summarize: (replayed, call, isTrial) =>
      "deliveries" in replayed ? summaryOf(replayed, call, isTrial) : null,
    next: (shown) =>
      "data" in shown && shown.data.length === 0
        ? "till webhook deliveries lists what there is"
        : "till webhook deliveries shows the result, if a server is running",
    fault: (_shown, replayed) => ("delivery" in replayed ? null : faultOf(replayed)),
  }),
];

/** The result of a replay: of one delivery, or of a period. */
type Replayed = { readonly delivery: DeliveryView } | PeriodReplay;

async function deliveriesOf(app: App, call: CommandCall) {
  const organizationId = call.flag("organization") as Id<"organization">;
  return listReplayableDeliveries(app, organizationId, periodOf(call), replayedMax);
}

function counted({ length }: readonly unknown[]): string {
  return `${String(length)} ${length === 1 ? "delivery" : "deliveries"}`;
}

/** Counts the deliveries of a period by endpoint. */
function summaryOf(
  { deliveries, refused }: PeriodReplay,
  call: CommandCall,
  isTrial: boolean,
): Summary {
  const counts = new Map<string, number>();
  for (const { endpointId: id } of deliveries) counts.set(id, (counts.get(id) ?? 0) + 1);
  const endpoints = [...counts].map(([webhookEndpointId, count]) => ({ webhookEndpointId, count }));
  if (deliveries.length + refused.length === 0) {
    const status = call.flag("status") ?? "dead_letter";
    const until = call.flag("to");
    const period = `since ${call.flag("from") ?? ""}${until === undefined ? "" : ` and before ${until}`}`;
    const text = `No delivery with the status ${status} ${period} matches, or each was sent again.`;
    return { text, sections: [] };
  }
  const [are, of] = [deliveries.length === 1 ? "is" : "are", endpoints.length];
  const done = isTrial ? "would be" : are;
  const text = `${counted(deliveries)} of ${String(of)} ${of === 1 ? "endpoint" : "endpoints"} ${done} sent again.`;
  return {
    text,
    sections: [
      section({
        title: "Endpoints",
        items: endpoints,
        columns: ["webhookEndpointId", ["count", "Deliveries"]],
      }),
    ],
  };
}

function eventOf(one: DeliveryView | undefined): string | null {
  return one === undefined ? null : `${one.eventType} (${one.eventId})`;
}

/** Deliveries of a period were not replayed. */
const NotAllReplayed = defineProblem({
  code: "not_all_replayed",
  status: 409,
  title: "Some deliveries were not replayed",
});

/** Maximum number of deliveries that one command replays. */
const replayedMax = 10_000;
/** Number of refused deliveries that the error names. */
const namedMax = 10;

export interface PeriodReplay {
  /** The new deliveries, oldest event first. */
  readonly deliveries: readonly DeliveryView[];
  readonly refused: readonly { readonly delivery: DeliveryView; readonly reason: string }[];
  readonly isInterrupted: boolean;
}

/** The flags that select a period. */
const PeriodQuery = z.strictObject({
  from: instant(),
  to: instant().optional(),
  status: z.enum(replayedStatuses).default("dead_letter"),
  endpoint: id("webhookEndpoint").optional(),
});

/** Reads the period of a call. @throws InvalidRequest */
export function periodOf(call: CommandCall): ReplayPeriod {
  if (call.flag("from") === undefined) {
    throw new InvalidRequest("Give the id of a delivery, or a period with --from.");
  }
  const given = call.parse(PeriodQuery, {
    from: call.flag("from"),
    to: call.flag("to"),
    status: call.flag("status"),
    endpoint: call.flag("endpoint"),
  });
  const from = Date.parse(given.from);
  const to = given.to === undefined ? null : Date.parse(given.to);
  if (to !== null && from >= to) throw new InvalidRequest("--from must be before --to.");
  return { status: given.status, from, to, webhookEndpointId: given.endpoint };
}

/**
 * Replays deliveries one by one, oldest first, so that a refused one does not affect the others. Ctrl-C ends it between
 * two deliveries; a repeated command continues, because replayed deliveries are not found again.
 */
export function replayAll(
  replay: (deliveryId: Id<"webhookDelivery">) => Promise<DeliveryView>,
  call: Pick<CommandCall, "attempt" | "interruptible">,
  found: readonly DeliveryView[],
): Promise<PeriodReplay> {
  const deliveries: DeliveryView[] = [];
  const refused: { delivery: DeliveryView; reason: string }[] = [];
  return call.interruptible(async (isInterrupted) => {
    for (const delivery of found) {
      if (isInterrupted()) return { deliveries, refused, isInterrupted: true };
      try {
        deliveries.push(await call.attempt(replay(delivery.id)));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push({ delivery, reason: error.message });
      }
    }
    return { deliveries, refused, isInterrupted: false };
  });
}

/** Returns the error with which the command ends unless everything was replayed. */
export function faultOf({ refused, isInterrupted }: PeriodReplay): Error | null {
  if (isInterrupted) return new Interrupted("Repeat the command to replay the rest.");
  if (refused.length === 0) return null;
  const lines = refused
    .slice(0, namedMax)
    .map(({ delivery, reason }) => `  ${delivery.id}: ${reason}`);
  const more = refused.length > namedMax ? ["  …"] : [];
  const count =
    refused.length === 1 ? "1 delivery was" : `${String(refused.length)} deliveries were`;
  return new NotAllReplayed(`${count} refused:\n${[...lines, ...more].join("\n")}`);
}
