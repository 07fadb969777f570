import { second, type Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Database, Dialect, Reader, Tx, WriteContext } from "../database/index.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";
import { hashOf, type ChainHead, type SealKey } from "./chain.ts";
import { lockHead, moveHead } from "./head.ts";
import { auditLogs } from "./table.ts";

/** Entries sealed in one transaction. */
const batchMax = 500;
const leaseLife = 30 * second;
/** The scheduler wakes every second, so that an entry is sealed within two. */
const everyMs = second / 2;

/** Links entries into the chain after they were written, so that no write waits for another one's hash. */
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

/** When the oldest entry that is not sealed yet was written; null where every entry is sealed. */
export async function oldestUnsealed(reader: Reader): Promise<Instant | null> {
  const [oldest] = await reader.all<{ createdAt: Instant }>(
    'SELECT created_at AS "createdAt" FROM audit_logs WHERE position IS NULL ORDER BY id LIMIT 1',
  );
  return oldest?.createdAt ?? null;
}

/**
 * Seals everything that is not sealed yet, and gives the head after it.
 * @throws Defect where the stored head is missing or was altered
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

/** Gives the next entries their positions and hashes. */
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
    return [entry.id, position, hash];
  });
  const sealed = await tx.run(writeSeals[tx.dialect], [JSON.stringify(seals)]);
  assert(sealed === seals.length, "every waiting entry is sealed once");
  await moveHead(tx, key, { position, hash, keyedFrom });
  return { head: { position, hash }, isMore: waiting.length === batchMax };
}

/** One statement for a batch: its one value is a JSON array of `[id, position, hash]`. */
const writeSeals: Readonly<Record<Dialect, string>> = {
  sqlite: `UPDATE audit_logs SET position = seal.value ->> 1, hash = seal.value ->> 2
    FROM json_each($1) AS seal WHERE audit_logs.id = seal.value ->> 0`,
  postgres: `UPDATE audit_logs SET position = CAST(seal.value ->> 1 AS BIGINT), hash = seal.value ->> 2
    FROM json_array_elements(CAST($1 AS json)) AS seal (value) WHERE audit_logs.id = seal.value ->> 0`,
};
