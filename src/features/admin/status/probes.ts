import type { Clock, Instant } from "../../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import { jobDepths, type QueueDepth } from "../../../platform/jobs/inspection.ts";
import type { Worker } from "../../../platform/jobs/background.ts";
import type { DeliveryBacklog } from "../../webhooks/delivery/backlog.ts";
import { lastReport, probeEveryMs, type Report } from "./report.ts";
import { serverProbes } from "../table.ts";

/** Counts pending webhook deliveries. */
export type BacklogCounter = (reader: Reader, now: Instant) => Promise<DeliveryBacklog>;

/** Pending work in the store. */
export interface Backlogs {
  readonly queues: readonly QueueDepth[];
  readonly webhooks: DeliveryBacklog;
}

/**
 * Creates a worker that stores this server's check results, for processes that cannot run the checks, in the row that
 * `recordServer` has made.
 */
export function makeProber(deps: {
  readonly db: Database;
  readonly clock: Clock;
  /** Name of the server, unique per process start. */
  readonly server: string;
  readonly context: WriteContext;
  readonly look: (context: WriteContext) => Promise<Report>;
}): Worker {
  const { db, clock, server, context } = deps;
  return {
    name: "probes",
    everyMs: probeEveryMs,
    async run() {
      const { checks, providers } = await deps.look(context);
      const checkedAt = clock.now();
      const report = { checks, providers };
      await db.write(context, async (tx) => {
        const where = "WHERE server = $1";
        if ((await tx.update(serverProbes, { checkedAt, report }, where, [server])) > 0) return;
        const unknown = { settings: null, endedAt: null };
        await tx.insertIfAbsent(serverProbes, { server, checkedAt, report, ...unknown });
      });
      return false;
    },
  };
}

/** Merges the servers' last check results. `checkedAt` is the latest of them; null if no server ever ran. */
export async function readLastReport(
  reader: Reader,
  now: Instant,
): Promise<{ readonly report: Report; readonly checkedAt: Instant | null }> {
  const rows = await reader.find(serverProbes, "");
  const probes = rows.filter(({ report }) => Object.keys(report.checks).length > 0);
  const checkedAt = probes.length === 0 ? null : Math.max(...probes.map((one) => one.checkedAt));
  return { report: lastReport(probes, now), checkedAt };
}

/** Counts pending work. Deliveries belong to the webhooks queue, although they have their own table. */
export async function readBacklogs(
  reader: Reader,
  now: Instant,
  countDeliveries: BacklogCounter,
): Promise<Backlogs> {
  const [webhooks, depths] = await Promise.all([
    countDeliveries(reader, now),
    jobDepths(reader, now),
  ]);
  const queues = depths.map((depth) =>
    depth.queue === "webhooks" ? withDeliveries(depth, webhooks) : depth,
  );
  return { queues, webhooks };
}

function withDeliveries(depth: QueueDepth, backlog: DeliveryBacklog): QueueDepth {
  return {
    ...depth,
    waiting: depth.waiting + backlog.pending + backlog.failed - backlog.later,
    active: depth.active + backlog.inProgress,
    delayed: depth.delayed + backlog.later,
    failed: depth.failed + backlog.deadLetter,
  };
}
