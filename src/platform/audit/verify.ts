import type { Database, Reader, WriteContext } from "../database/index.ts";
import { genesis, hashOf, type AuditRow, type ChainHead } from "./chain.ts";
import { chainHead, sealAll } from "./sealer.ts";
import { auditLogs } from "./table.ts";

/** The first place at which the chain does not hold. */
export interface AuditFault {
  readonly position: number;
  /** The entry that stands there, or next after the gap; null where there is none. */
  readonly id: string | null;
  readonly kind: "missing" | "altered" | "rewritten" | "foreign";
  readonly message: string;
}

export interface AuditVerification {
  /** How many entries were found good, from the first on. */
  readonly entries: number;
  /** To be kept elsewhere: only against such a copy does it show that the whole chain was written anew. */
  readonly head: ChainHead;
  /** Null where the chain holds. */
  readonly fault: AuditFault | null;
}

/** Entries that are looked at together. */
const batchSize = 1_000;

/**
 * Seals what is waiting, then proves the chain from its first entry to its head. `kept` is a head from an earlier
 * verification: the entry that it names must still be there, unchanged.
 */
export async function verifyAudit(
  db: Database,
  context: WriteContext,
  kept: ChainHead | null = null,
): Promise<AuditVerification> {
  await sealAll(db, context);
  const head = await chainHead(db);
  const { last, fault } = await walk(db, head, kept);
  return { entries: last.position, head, fault: fault ?? (await findForeign(db)) };
}

/** What is wrong with the chain as it is sealed so far; null where it holds. Writes nothing. */
export async function auditFault(reader: Reader): Promise<AuditFault | null> {
  const head = await chainHead(reader);
  const { fault } = await walk(reader, head, null);
  return fault ?? findForeign(reader);
}

async function walk(
  reader: Reader,
  head: ChainHead,
  kept: ChainHead | null,
): Promise<{ last: ChainHead; fault: AuditFault | null }> {
  let last = genesis;
  for (;;) {
    const entries = await reader.find(
      auditLogs,
      `WHERE position > $1 AND position <= $2 ORDER BY position LIMIT ${String(batchSize)}`,
      [last.position, head.position],
    );
    for (const entry of entries) {
      const fault = faultOf(last, entry, kept);
      if (fault !== null) return { last, fault };
      last = { position: entry.position ?? 0, hash: entry.hash ?? "" };
    }
    if (entries.length < batchSize) return { last, fault: faultOfEnd(last, head, kept) };
  }
}

function faultOf(last: ChainHead, entry: AuditRow, kept: ChainHead | null): AuditFault | null {
  const position = last.position + 1;
  const fault = (kind: AuditFault["kind"], message: string) => ({
    position,
    id: entry.id,
    kind,
    message,
  });
  if (entry.position !== position) {
    return fault("missing", `The entry at ${String(position)}, before ${entry.id}, is missing.`);
  }
  if (entry.hash !== hashOf(last.hash, entry, position)) {
    return fault("altered", `The entry ${entry.id} at ${String(position)} was altered.`);
  }
  if (kept?.position === position && kept.hash !== entry.hash) {
    return fault(
      "rewritten",
      `The entry ${entry.id} at ${String(position)}, or one before it, was written anew since the head was kept.`,
    );
  }
  return null;
}

function faultOfEnd(last: ChainHead, head: ChainHead, kept: ChainHead | null): AuditFault | null {
  const position = last.position + 1;
  if (last.position < Math.max(head.position, kept?.position ?? 0)) {
    const message = `The entry at ${String(position)} and what followed it are missing.`;
    return { position, id: null, kind: "missing", message };
  }
  if (last.hash === head.hash) return null;
  const message = `The entry at ${String(last.position)} is not the one that was sealed last.`;
  return { position: last.position, id: null, kind: "rewritten", message };
}

/** An entry beyond the head was not sealed by this program: it commits both together. */
async function findForeign(reader: Reader): Promise<AuditFault | null> {
  const [entry] = await reader.find(
    auditLogs,
    "WHERE position IS NOT NULL ORDER BY position DESC LIMIT 1",
  );
  const position = entry?.position ?? 0;
  if (entry === undefined || position <= (await chainHead(reader)).position) return null;
  const message = `The entry ${entry.id} at ${String(position)} was never sealed by Till.`;
  return { position, id: entry.id, kind: "foreign", message };
}
