import { createHmac } from "node:crypto";
import { Defect } from "../../kernel/errors.ts";
import type { Reader, Tx } from "../database/index.ts";
import { meta } from "../database/meta.ts";
import { isSameSecret } from "../secrets/tokens.ts";
import { formatHead, genesis, parseHead, type ChainHead, type SealKey } from "./chain.ts";

/** The head of the chain as the store has it, in `meta`: `position:hash:keyedFrom:mac`. */
export interface StoredHead extends ChainHead {
  /** The first position that is sealed with the key. Earlier releases sealed the entries before it without one. */
  readonly keyedFrom: number;
}

/** Tells the operator that `readHead` gives null. */
export const headBroken = "The head of the audit chain is missing from the store, or was altered.";

const headFact = "audit_head";

/** The stored head; null where it is missing, or where no process that has the server's secret wrote it. */
export async function readHead(reader: Reader, key: SealKey): Promise<StoredHead | null> {
  const row = await reader.findOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? null : authentic(row.value, key);
}

/** The stored head as `12:9f86…`, without proof that Till wrote it; null where the store lacks it. */
export async function claimedHead(reader: Reader): Promise<string | null> {
  const row = await reader.findOne(meta, "WHERE name = $1", [headFact]);
  return row === null ? null : row.value.split(":").slice(0, 2).join(":");
}

/** Locks the head, so that of any number of processes one at a time continues the chain. */
export async function lockHead(tx: Tx, key: SealKey): Promise<StoredHead> {
  const row = await tx.lockOne(meta, "WHERE name = $1", [headFact]);
  const head = row === null ? null : authentic(row.value, key);
  // To seal on would make whatever was put in its place look genuine.
  if (head === null) throw new Defect(`${headBroken} Nothing is sealed until it is restored.`);
  return head;
}

/** Stores the head that the locking transaction has reached. */
export async function moveHead(tx: Tx, key: SealKey, head: StoredHead): Promise<void> {
  await tx.update(meta, { value: written(head, key) }, "WHERE name = $1", [headFact]);
}

/** Gives a new store the head of an empty chain. A store that lost its head is not taken for a new one. */
export async function beginChain(tx: Tx, key: SealKey): Promise<void> {
  const value = written({ ...genesis, keyedFrom: 1 }, key);
  await tx.insertIfAbsent(meta, { name: headFact, value });
}

/**
 * Lets the chain of a store that an earlier release made go on with keyed seals. Gives the last entry without one; null
 * where it goes on already.
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
  // No seal of an entry is over a text that begins like this one.
  const mac = createHmac("sha256", key).update(`head:${text}`).digest("hex");
  return `${text}:${mac}`;
}
