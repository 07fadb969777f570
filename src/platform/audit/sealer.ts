import { second, type Instant } from "../../kernel/clock.ts";
import { assert } from "../../kernel/errors.ts";
import type { Database, Dialect, Reader, Tx, WriteContext } from "../database/index.ts";
import { meta } from "../database/meta.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";
import { formatHead, genesis, hashOf, storedHead, type ChainHead } from "./chain.ts";
import { auditLogs } from "./table.ts";

/** Entries sealed in one transaction. */
const batchMax = 500;
const leaseLife = 30 * second;
/** The scheduler wakes every second, so that an entry is sealed within two. */
const everyMs = second / 2;
/** Where the store remembers the last entry of the chain. */
const headFact = "audit_head";

/** Links entries into the chain after they were written, so that no write waits for another one's hash. */
export function createSealer(deps: {
  readonly db: Database;
  readonly leases: Leases;
  readonly context: WriteContext;
}): Worker {
  const { db, leases, context } = deps;
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
      return db.write(context, async (tx) => {
        await leases.guard(tx, lease);
        return sealBatch(tx);
      });
    },
  };
}

/** When the oldest entry that is not sealed yet was written; null where there is none. */
export async function oldestUnsealed(reader: Reader): Promise<Instant | null> {
  const [oldest] = await reader.all<{ createdAt: Instant }>(
    'SELECT created_at AS "createdAt" FROM audit_logs WHERE position IS NULL ORDER BY id LIMIT 1',
  );
  return oldest?.createdAt ?? null;
}

/** Seals everything that is not sealed yet: what looks at the chain does so first. */
export async function sealAll(db: Database, context: WriteContext): Promise<void> {
  let isMore = true;
  while (isMore) isMore = await db.write(context, sealBatch);
}

/** The head of the chain as the store remembers it. */
export async function chainHead(reader: Reader): Promise<ChainHead> {
  const row = await reader.findOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? genesis : storedHead(row.value);
}

/** Gives the next entries their places and hashes; true where more are waiting. */
async function sealBatch(tx: Tx): Promise<boolean> {
  const head = await lockHead(tx);
  const waiting = await tx.find(
    auditLogs,
    `WHERE position IS NULL ORDER BY id LIMIT ${String(batchMax)}`,
  );
  if (waiting.length === 0) return false;
  let { position, hash } = head;
  const seals = waiting.map((entry) => {
    position += 1;
    hash = hashOf(hash, entry, position);
    return [entry.id, position, hash];
  });
  const sealed = await tx.run(writeSeals[tx.dialect], [JSON.stringify(seals)]);
  assert(sealed === seals.length, "every waiting entry is sealed once");
  const value = formatHead({ position, hash });
  await tx.update(meta, { value }, "WHERE name = $1", [headFact]);
  return waiting.length === batchMax;
}

/** Locks the head, so that of any number of processes one at a time continues the chain. */
async function lockHead(tx: Tx): Promise<ChainHead> {
  await tx.insertIfAbsent(meta, { name: headFact, value: formatHead(genesis) });
  const row = await tx.lockOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? genesis : storedHead(row.value);
}

/** One statement for a batch: its one value is a JSON array of `[id, position, hash]`. */
const writeSeals: Readonly<Record<Dialect, string>> = {
  sqlite: `UPDATE audit_logs SET position = seal.value ->> 1, hash = seal.value ->> 2
    FROM json_each($1) AS seal WHERE audit_logs.id = seal.value ->> 0`,
  postgres: `UPDATE audit_logs SET position = CAST(seal.value ->> 1 AS BIGINT), hash = seal.value ->> 2
    FROM json_array_elements(CAST($1 AS json)) AS seal (value) WHERE audit_logs.id = seal.value ->> 0`,
};
