import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../database/database.ts";
import type { QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** Failed work of another table. It is listed among its queue's failed jobs while it waits. */
export interface ParkedWork {
  /** The job id, always the same for this work. */
  readonly id: string;
  readonly queue: QueueName;
  /** The handler that runs it at once when an operator retries it. */
  readonly name: string;
  readonly payload: object;
  readonly organizationId: string | null;
  readonly attempts: number;
  readonly reason: string;
}

const reasonLengthMax = 2_000;
/** The attempts after an operator's retry, as for any job. */
const attemptsMax = 12;

/** Lists failed work. A repeated failure replaces the entry, with the latest reason. */
export async function listParked(tx: Tx, at: Instant, work: ParkedWork): Promise<void> {
  await delistParked(tx, work.id);
  const { id, queue, name, payload, organizationId, attempts } = work;
  await tx.insert(jobs, {
    id,
    queue,
    name,
    payload,
    organizationId,
    attempts,
    dedupeKey: id,
    state: "failed",
    runAt: at,
    maxAttempts: attemptsMax,
    leaseUntil: null,
    leaseToken: null,
    // PostgreSQL cannot store NUL characters.
    failedReason: work.reason.replaceAll("\0", "").slice(0, reasonLengthMax),
    failedAt: at,
    createdAt: at,
  });
}

/** Removes work that was completed from the list. */
export async function delistParked(tx: Tx, id: string): Promise<void> {
  await tx.run("DELETE FROM jobs WHERE id = $1", [id]);
}
