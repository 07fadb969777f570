import * as z from "zod";
import { Interrupted, type CommandCall } from "../../api/declare/command.ts";
import { id, instant } from "../../api/declare/record.ts";
import { defineProblem, InvalidRequest, Problem } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { DeliveryView, ReplayPeriod } from "./delivery/store.ts";

/** Deliveries of a period were not replayed. */
const NotAllReplayed = defineProblem({
  code: "not_all_replayed",
  status: 409,
  title: "Some deliveries were not replayed",
});

/** Maximum number of deliveries that one command replays. */
export const replayedMax = 10_000;
/** Number of refused deliveries that the error names. */
const namedMax = 10;

export interface PeriodReplay {
  /** The new deliveries, oldest event first. */
  readonly deliveries: readonly DeliveryView[];
  readonly refused: readonly { readonly delivery: DeliveryView; readonly reason: string }[];
  readonly isInterrupted: boolean;
}

/** The statuses of deliveries that can be replayed. */
export const replayedStatuses = ["dead_letter", "succeeded"] as const;

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
