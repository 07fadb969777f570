import { toIso } from "../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../database/database.ts";
import type { Check } from "../database/schema/checks.ts";
import { events } from "../events/outbox.ts";
import {
  auditLogs,
  genesis,
  hashOf,
  parseHead,
  type AuditRow,
  type ChainHead,
  type SealKey,
} from "./chain.ts";
import { headBroken, readHead, sealAll, type StoredHead } from "./head.ts";

/** The first position at which the chain is broken. */
export interface AuditFault {
  readonly position: number;
  /** The entry at the position, or the next one after a gap; null at the end of the log. */
  readonly id: string | null;
  /** `head`: the stored head is missing or was altered. */
  readonly kind: "missing" | "altered" | "rewritten" | "foreign" | "head";
  readonly message: string;
}

export interface AuditVerification {
  /** Number of intact entries, from the first one on. */
  readonly entries: number;
  /** The stored head, to be kept elsewhere; position 0 if it is missing or was altered. */
  readonly head: ChainHead;
  /** Null if the chain is intact. */
  readonly fault: AuditFault | null;
}

/** Number of entries that one query reads. */
const batchSize = 1_000;

/**
 * Seals the unsealed entries, then verifies the chain from its first entry to its head. The entries of the store's
 * `audit.head` events and of `given`, a head that was kept elsewhere, must exist unchanged.
 */
export async function verifyAudit(
  db: Database,
  key: SealKey,
  context: WriteContext,
  given: ChainHead | null = null,
): Promise<AuditVerification> {
  if ((await readHead(db, key)) !== null) await sealAll(db, key, context);
  return prove(db, key, given === null ? [] : [{ ...given, source: "that was given" }]);
}

/** Returns the first fault of the chain as sealed so far; null if it is intact. Writes nothing. */
async function auditFault(reader: Reader, key: SealKey): Promise<AuditFault | null> {
  return (await prove(reader, key, [])).fault;
}

async function prove(
  reader: Reader,
  key: SealKey,
  given: readonly SavedHead[],
): Promise<AuditVerification> {
  // The events are read first: while a server writes, the head that is read after them is never behind them.
  const saved = [...given, ...(await announcedHeads(reader))];
  const head = await readHead(reader, key);
  if (head === null) return { entries: 0, head: genesis, fault: await faultOfHead(reader, saved) };
  const { last, fault } = await walk(reader, key, head, saved);
  const found = fault ?? (await findForeign(reader, key));
  return {
    entries: last.position,
    head: { position: head.position, hash: head.hash },
    fault: found,
  };
}

async function walk(
  reader: Reader,
  key: SealKey,
  head: StoredHead,
  saved: readonly SavedHead[],
): Promise<{ last: ChainHead; fault: AuditFault | null }> {
  const savedAt = new Map<number, SavedHead[]>();
  for (const one of saved) savedAt.set(one.position, [...(savedAt.get(one.position) ?? []), one]);
  let last = genesis;
  for (;;) {
    const entries = await reader.find(
      auditLogs,
      `WHERE position > $1 AND position <= $2 ORDER BY position LIMIT ${String(batchSize)}`,
      [last.position, head.position],
    );
    for (const entry of entries) {
      const position = last.position + 1;
      const sealKey = position < head.keyedFrom ? null : key;
      const fault = faultOf(sealKey, last, entry, savedAt.get(position) ?? []);
      if (fault !== null) return { last, fault };
      last = { position, hash: entry.hash ?? "" };
    }
    if (entries.length < batchSize) return { last, fault: faultOfEnd(last, head, saved) };
  }
}

function faultOf(
  key: SealKey | null,
  last: ChainHead,
  entry: AuditRow,
  saved: readonly SavedHead[],
): AuditFault | null {
  const position = last.position + 1;
  const { id } = entry;
  const at = String(position);
  if (entry.position !== position) {
    const message =
      entry.position === position + 1
        ? `The entry at ${at}, before ${id}, is missing.`
        : `The entries from ${at} to ${String((entry.position ?? 0) - 1)}, before ${id}, are missing.`;
    return { position, id, kind: "missing", message };
  }
  if (entry.hash !== hashOf(key, last.hash, entry, position)) {
    const message = `The entry ${id} at ${at} was altered.`;
    return { position, id, kind: "altered", message };
  }
  const other = saved.find(({ hash }) => hash !== entry.hash);
  if (other === undefined) return null;
  const message = `The entry ${id} at ${at}, or one before it, was replaced: the head ${other.source} differs.`;
  return { position, id, kind: "rewritten", message };
}

function faultOfEnd(
  last: ChainHead,
  head: ChainHead,
  saved: readonly SavedHead[],
): AuditFault | null {
  const { position } = last;
  const message = lackAfter(position, [{ ...head, source: "in the store" }, ...saved]);
  if (message !== null) return { position: position + 1, id: null, kind: "missing", message };
  if (last.hash === head.hash) return null;
  return {
    position,
    id: null,
    kind: "rewritten",
    message: `The entry at ${String(position)} is not the last one that Till sealed.`,
  };
}

/** Describes the entries after a position that the furthest of the heads proves; null if it proves none. */
function lackAfter(position: number, heads: readonly SavedHead[]): string | null {
  const [furthest] = heads.toSorted((one, other) => other.position - one.position);
  const lacking = (furthest?.position ?? 0) - position;
  if (furthest === undefined || lacking <= 0) return null;
  const entries = lacking === 1 ? "1 entry is missing" : `${String(lacking)} entries are missing`;
  return `The audit log ends at ${String(position)}; the head ${furthest.source} says ${String(furthest.position)}: ${entries}, from ${String(position + 1)} on.`;
}

async function faultOfHead(reader: Reader, saved: readonly SavedHead[]): Promise<AuditFault> {
  const position = (await newest(reader))?.position ?? 0;
  const message = [headBroken, lackAfter(position, saved) ?? []].flat().join(" ");
  return { position, id: null, kind: "head", message };
}

/** Finds an entry beyond the head. Till never leaves one, because it moves the head in the transaction that seals. */
async function findForeign(reader: Reader, key: SealKey): Promise<AuditFault | null> {
  const entry = await newest(reader);
  // The head is read again, because a server may have sealed entries in the meantime.
  const head = await readHead(reader, key);
  const position = entry?.position ?? 0;
  if (entry === null || position <= (head?.position ?? 0)) return null;
  const message = `The entry ${entry.id} at ${String(position)} is beyond the head in the store: Till did not seal it, or the head was put back.`;
  return { position, id: entry.id, kind: "foreign", message };
}

async function newest(reader: Reader): Promise<AuditRow | null> {
  const [entry] = await reader.find(
    auditLogs,
    "WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1",
  );
  return entry ?? null;
}

/** A head of the chain that is kept beside the entries. */
interface SavedHead extends ChainHead {
  /** Completes "the head …" in messages: `of the event evt_… of 2026-…`. */
  readonly source: string;
}

/**
 * The number of newest heads that a verification compares. Events are kept for 90 days, with at most one head per hour.
 */
const announcedMax = 10_000;

/**
 * Returns the heads of the `audit.head` events in the store. An attacker who can write to the store can delete them,
 * but not the copies that webhook receivers have.
 */
async function announcedHeads(reader: Reader): Promise<readonly SavedHead[]> {
  const rows = await reader.find(
    events,
    `WHERE type = 'audit.head' ORDER BY id DESC LIMIT ${String(announcedMax)}`,
  );
  return rows.flatMap(({ id, payload, occurredAt }) => {
    const head = parseHead(`${String(payload["position"])}:${String(payload["hash"])}`);
    return head === null ? [] : { ...head, source: `of the event ${id} of ${toIso(occurredAt)}` };
  });
}

export function auditChecks(key: SealKey): readonly Check[] {
  return [
    {
      name: "audit.chain",
      describe:
        "The audit log's chain is intact from its first entry to its head, and matches every head that an event announced.",
      advice: "Run till audit verify, and compare the store with a backup from before.",
      async run(reader) {
        const fault = await auditFault(reader, key);
        if (fault === null) return [];
        return [{ row: fault.id ?? `position ${String(fault.position)}`, fault: fault.message }];
      },
    },
  ];
}
