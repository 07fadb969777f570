import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../database/index.ts";
import type { QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** Work that lies in a table of its own and failed: it is listed among its queue's failed jobs while it waits. */
export interface ParkedWork {
  /** A job's id that this work always has. */
  readonly id: string;
  readonly queue: QueueName;
  /** The handler that does it at once, when an operator asks for that. */
  readonly name: string;
  readonly payload: object;
  readonly organizationId: string | null;
  readonly attempts: number;
  readonly reason: string;
}

const reasonLengthMax = 2_000;
/** An operator who retries it has as many attempts as for any job. */
const attemptsMax = 12;

/** Lists work that failed. Again, it stays one entry, with the latest reason. */
export async function listParked(tx: Tx, at: Instant, work: ParkedWork): Promise<void> {
  await delistParked(tx, work.id);
  const { id, queue, name, payload, organizationId, attempts } = work;
  await tx.insert(jobs, {
    ...{ id, queue, name, payload, organizationId, attempts },
    dedupeKey: id,
    state: "failed",
    runAt: at,
    maxAttempts: attemptsMax,
    leaseUntil: null,
    leaseToken: null,
    // PostgreSQL stores no NUL.
    failedReason: work.reason.replaceAll("\0", "").slice(0, reasonLengthMax),
    failedAt: at,
    createdAt: at,
  });
}

/** Takes it off the list: it was done. */
export async function delistParked(tx: Tx, id: string): Promise<void> {
  await tx.run("DELETE FROM jobs WHERE id = $1", [id]);
}
