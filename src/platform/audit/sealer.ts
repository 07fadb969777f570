import { second, type Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Database, Reader, Tx, WriteContext } from "../database/database.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";
import { hashOf, type ChainHead, type SealKey } from "./chain.ts";
import { lockHead, moveHead } from "./head.ts";
import { auditLogs } from "./table.ts";

/** The largest number of entries that one transaction seals. */
const batchMax = 500;
const leaseLife = 30 * second;
/** The scheduler runs every second, so an entry is sealed within two seconds. */
const everyMs = second / 2;

/** Creates the worker that seals entries after they were written, so that no write waits for the hash of another. */
export function createSealer(deps: {
  readonly db: Database;
  readonly key: SealKey;
  readonly leases: Leases;
  readonly context: WriteContext;
}): Worker {
  const { db, key, leases, context } = deps;
  return {
    name: "audit-sealer",
    everyMs,
    async run() {
      const waiting = await db.all(
        "SELECT 1 AS found FROM audit_logs WHERE position IS NULL LIMIT 1",
      );
      if (waiting.length === 0) return false;
      const lease = await leases.acquire("audit-sealer", leaseLife);
      if (lease === null) return false;
      const { isMore } = await db.write(context, async (tx) => {
        await leases.guard(tx, lease);
        return sealBatch(tx, key);
      });
      return isMore;
    },
  };
}

/** Returns the time at which the oldest unsealed entry was written; null if every entry is sealed. */
export async function oldestUnsealed(reader: Reader): Promise<Instant | null> {
  const [oldest] = await reader.all<{ createdAt: Instant }>(
    'SELECT created_at AS "createdAt" FROM audit_logs WHERE position IS NULL ORDER BY id LIMIT 1',
  );
  return oldest?.createdAt ?? null;
}

/**
 * Seals all unsealed entries, and returns the new head.
 * @throws Defect if the stored head is missing or was altered
 */
export async function sealAll(
  db: Database,
  key: SealKey,
  context: WriteContext,
): Promise<ChainHead> {
  for (;;) {
    const { head, isMore } = await db.write(context, (tx) => sealBatch(tx, key));
    if (!isMore) return head;
  }
}

/** Assigns positions and hashes to the next entries. */
async function sealBatch(
  tx: Tx,
  key: SealKey,
): Promise<{ readonly head: ChainHead; readonly isMore: boolean }> {
  const { keyedFrom, ...head } = await lockHead(tx, key);
  const waiting = await tx.find(
    auditLogs,
    `WHERE position IS NULL ORDER BY id LIMIT ${String(batchMax)}`,
  );
  if (waiting.length === 0) return { head, isMore: false };
  let { position, hash } = head;
  const seals = waiting.map((entry) => {
    position += 1;
    hash = hashOf(key, hash, entry, position);
    return { where: { id: entry.id }, set: { position, hash } };
  });
  const sealed = await tx.updateMany(auditLogs, seals);
  assert(sealed === seals.length, "every waiting entry is sealed once");
  await moveHead(tx, key, { position, hash, keyedFrom });
  return { head: { position, hash }, isMore: waiting.length === batchMax };
}
