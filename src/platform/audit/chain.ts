import { createHash } from "node:crypto";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { Defect } from "../../kernel/errors.ts";
import type { RowOf } from "../database/index.ts";
import type { auditLogs } from "./table.ts";

export type AuditRow = RowOf<typeof auditLogs>;

/** The last entry of the chain. Kept elsewhere, it shows later whether entries up to it are still what they were. */
export interface ChainHead {
  /** The place of the entry; 0 while nothing is sealed. */
  readonly position: number;
  readonly hash: string;
}

/** What the first entry is linked to. */
export const genesis: ChainHead = { position: 0, hash: "0".repeat(64) };

/** The hash of an entry at its place: SHA-256 over the hash before it and the entry's canonical JSON. */
export function hashOf(previousHash: string, entry: AuditRow, position: number): string {
  const { hash: _hash, ...content } = entry;
  return createHash("sha256")
    .update(previousHash)
    .update(canonicalJson({ ...content, position }))
    .digest("hex");
}

/** `12:9f86…`, for people and scripts to keep. */
export function formatHead(head: ChainHead): string {
  return `${String(head.position)}:${head.hash}`;
}

/** The head that a text names; null where it names none. */
export function parseHead(text: string): ChainHead | null {
  const [, position, hash] = /^(0|[1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  return position === undefined || hash === undefined ? null : { position: Number(position), hash };
}

/** The same for what the program wrote itself. */
export function storedHead(text: string): ChainHead {
  const head = parseHead(text);
  if (head === null) throw new Defect(`'${text}' is not the head of an audit chain`);
  return head;
}
