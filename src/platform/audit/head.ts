import { createHmac } from "node:crypto";
import { second, type Instant } from "../../kernel/clock.ts";
import { assert, Defect } from "../../kernel/errors.ts";
import type { Database, Reader, Tx, WriteContext } from "../database/database.ts";
import { meta } from "../database/schema/table.ts";
import type { Worker } from "../jobs/background.ts";
import type { Leases } from "../jobs/leases.ts";
import { isSameSecret } from "../secrets/tokens.ts";
import {
  auditLogs,
  formatHead,
  genesis,
  hashOf,
  parseHead,
  type ChainHead,
  type SealKey,
} from "./chain.ts";

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

/** The head of the chain as stored in `meta`: `position:hash:keyedFrom:mac`. */
export interface StoredHead extends ChainHead {
  /** The first position that is sealed with the key. Earlier releases sealed the entries before it without a key. */
  readonly keyedFrom: number;
}

/** The message to the operator when `readHead` returns null. */
export const headBroken = "The head of the audit chain is missing from the store, or was altered.";

const headFact = "audit_head";

/** Reads the stored head; null if it is missing, or was not written with the server's secret. */
export async function readHead(reader: Reader, key: SealKey): Promise<StoredHead | null> {
  const row = await reader.findOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? null : authentic(row.value, key);
}

/** Reads the stored head as `12:9f86…`, without proof that Till wrote it; null if it is missing. */
export async function unverifiedHead(reader: Reader): Promise<string | null> {
  const row = await reader.findOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? null : row.value.split(":").slice(0, 2).join(":");
}

/** Locks the head, so that only one process at a time extends the chain. */
async function lockHead(tx: Tx, key: SealKey): Promise<StoredHead> {
  const row = await tx.lockOne(meta, "WHERE name = $1", [headFact]);
  const head = row === null ? null : authentic(row.value, key);
  // Sealing further entries would make a forged head look genuine.
  if (head === null) throw new Defect(`${headBroken} Nothing is sealed until it is restored.`);
  return head;
}

/** Stores the head that the locking transaction has reached. */
async function moveHead(tx: Tx, key: SealKey, head: StoredHead): Promise<void> {
  await tx.update(meta, { value: written(head, key) }, "WHERE name = $1", [headFact]);
}

/** Stores the head of an empty chain in a new store. A store that lost its head must not be treated as new. */
export async function beginChain(tx: Tx, key: SealKey): Promise<void> {
  const value = written({ ...genesis, keyedFrom: 1 }, key);
  await tx.insertIfAbsent(meta, { name: headFact, value });
}

/**
 * Switches the chain of a store from an earlier release to keyed seals. Returns the last entry without one; null if the
 * chain uses keyed seals already.
 */
export async function keyChain(tx: Tx, key: SealKey): Promise<ChainHead | null> {
  await beginChain(tx, key);
  const row = await tx.lockOne(meta, "WHERE name = $1", [headFact]);
  const last = parseHead(row?.value ?? "");
  if (last !== null) await moveHead(tx, key, { ...last, keyedFrom: last.position + 1 });
  return last;
}

function authentic(value: string, key: SealKey): StoredHead | null {
  const [, text = "", keyedFrom] = /^(\d+:[0-9a-f]{64}):([1-9]\d{0,14}):/.exec(value) ?? [];
  const head = parseHead(text);
  if (head === null) return null;
  const stored = { ...head, keyedFrom: Number(keyedFrom) };
  return isSameSecret(value, written(stored, key)) ? stored : null;
}

function written(head: StoredHead, key: SealKey): string {
  const text = `${formatHead(head)}:${String(head.keyedFrom)}`;
  // The prefix keeps this MAC distinct from every seal of an entry.
  const mac = createHmac("sha256", key).update(`head:${text}`).digest("hex");
  return `${text}:${mac}`;
}
