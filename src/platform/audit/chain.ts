import { createHash, createHmac } from "node:crypto";
import type { Actor } from "../../kernel/actor.ts";
import { canonicalJson } from "../../kernel/digest.ts";
import { integer, json, table, text, time, type RowOf } from "../database/schema/table.ts";

/** The audit log: who changed what. An entry is written with the change, and never changed except by sealing. */
export const auditLogs = table(
  "audit_logs",
  {
    id: text(),
    /** Null for an entry about a user alone. */
    organizationId: text().nullable(),
    actorType: text<Actor["type"]>(),
    actorId: text().nullable(),
    actorLabel: text(),
    action: text(),
    targetType: text(),
    targetId: text(),
    ip: text().nullable(),
    requestId: text().nullable(),
    changes: json<Readonly<Record<string, unknown>>>(),
    /** The position in the chain, without gaps; null until sealed. */
    position: integer().nullable(),
    /** The seal over this entry and the previous hash; null until sealed. */
    hash: text().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "audit_logs_organization", columns: ["organizationId", "id"] },
      { name: "audit_logs_action", columns: ["organizationId", "action", "id"] },
      { name: "audit_logs_actor", columns: ["organizationId", "actorId", "id"] },
      {
        name: "audit_logs_actor_action",
        columns: ["organizationId", "actorId", "action", "id"],
        where: "actor_id IS NOT NULL",
      },
      { name: "audit_logs_platform_action", columns: ["action", "id"] },
      { name: "audit_logs_platform_actor", columns: ["actorId", "id"] },
      {
        name: "audit_logs_platform_actor_action",
        columns: ["actorId", "action", "id"],
        where: "actor_id IS NOT NULL",
      },
      { name: "audit_logs_unsealed", columns: ["id"], where: "position IS NULL" },
      {
        name: "audit_logs_position",
        columns: ["position"],
        unique: true,
        where: "position IS NOT NULL",
      },
    ],
  },
);

export type AuditRow = RowOf<typeof auditLogs>;

/** The server's key for the purpose `audit-seals`. */
export type SealKey = Uint8Array;

/** The last entry of the chain. A copy that is kept elsewhere proves later that the entries up to it are unchanged. */
export interface ChainHead {
  /** The entry's position; 0 while nothing is sealed. */
  readonly position: number;
  readonly hash: string;
}

/** The predecessor of the first entry. */
export const genesis: ChainHead = { position: 0, hash: "0".repeat(64) };

/**
 * Returns the seal of an entry at its position: HMAC-SHA-256 over the previous hash and the entry's canonical JSON.
 * Without a key, it is plain SHA-256, as in the seals of earlier releases.
 */
export function hashOf(
  key: SealKey | null,
  previousHash: string,
  entry: AuditRow,
  position: number,
): string {
  const { hash: _hash, ...content } = entry;
  return (key === null ? createHash("sha256") : createHmac("sha256", key))
    .update(previousHash)
    .update(canonicalJson({ ...content, position }))
    .digest("hex");
}

/** Formats a head as `12:9f86…`, for people and scripts to keep. */
export function formatHead(head: ChainHead): string {
  return `${String(head.position)}:${head.hash}`;
}

/** Parses a head; null if the text is not one. */
export function parseHead(text: string): ChainHead | null {
  const [, position, hash] = /^(0|[1-9]\d{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  return position === undefined || hash === undefined ? null : { position: Number(position), hash };
}
