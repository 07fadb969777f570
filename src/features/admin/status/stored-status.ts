import type { z } from "zod";
import { toIso, type Instant } from "../../../kernel/clock.ts";
import { unverifiedHead } from "../../../platform/audit/head.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { jobDepths, type QueueDepth } from "../../../platform/jobs/queue.ts";
import { deliveryBacklog, type DeliveryBacklog } from "../../webhooks/delivery/backlog.ts";
import type { AdminOperationsStatusRecord } from "../oversight-records.ts";
import { lastReport, overall, serverProbes, type Report } from "./servers.ts";
import type { Health } from "./health.ts";

// The status that any process can read in the store. Imported by commands that must start fast, so this file imports
// little.

/** Pending work in the store. */
interface Backlogs {
  readonly queues: readonly QueueDepth[];
  readonly webhooks: DeliveryBacklog;
}

export interface OperationsStatus extends Report, Backlogs {
  /** The stored head of the audit chain, such as `12:9f86…`; null if the store has none. */
  readonly auditHead: string | null;
  readonly checkedAt: Instant;
  readonly infrastructure: Health;
}

/** Returns the servers' last recorded checks and the current backlogs. `checkedAt` is the time of the latest check. */
export async function storedOperationsStatus(
  reader: Reader,
  now: Instant,
): Promise<OperationsStatus> {
  const [{ report, checkedAt }, backlogs, auditHead] = await Promise.all([
    readLastReport(reader, now),
    readBacklogs(reader, now),
    unverifiedHead(reader),
  ]);
  return {
    ...report,
    ...backlogs,
    auditHead,
    checkedAt: checkedAt ?? now,
    infrastructure: overall(report),
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
export async function readBacklogs(reader: Reader, now: Instant): Promise<Backlogs> {
  const [webhooks, depths] = await Promise.all([
    deliveryBacklog(reader, now),
    jobDepths(reader, now),
  ]);
  const queues = depths.map((depth) =>
    depth.queue === "webhooks" ? withDeliveries(depth, webhooks) : depth,
  );
  return { queues, webhooks };
}

/** Adds the deliveries to the depth of their queue. */
export function withDeliveries(depth: QueueDepth, backlog: DeliveryBacklog): QueueDepth {
  return {
    ...depth,
    waiting: depth.waiting + backlog.pending + backlog.failed - backlog.later,
    active: depth.active + backlog.inProgress,
    delayed: depth.delayed + backlog.later,
    failed: depth.failed + backlog.deadLetter,
  };
}

/** Presents the status for the API and for `till ops status --json`. */
export function presentOperationsStatus(
  status: OperationsStatus,
): z.input<typeof AdminOperationsStatusRecord> {
  const { failed, deadLetter, pending, inProgress } = status.webhooks;
  const checks = Object.entries(status.checks);
  return {
    checkedAt: toIso(status.checkedAt),
    infrastructure: {
      status: status.infrastructure,
      checks: Object.fromEntries(checks.map(([name, check]) => [name, check.status])),
      messages: Object.fromEntries(checks.map(([name, check]) => [name, check.message])),
    },
    providers: [...status.providers],
    queues: [...status.queues],
    webhooks: { failed, deadLetter, pending, inProgress },
    auditHead: status.auditHead,
  };
}
