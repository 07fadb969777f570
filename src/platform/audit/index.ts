import type { Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Tx } from "../database/index.ts";
import { auditLogs } from "./table.ts";

export interface AuditEntry {
  /** The action as `noun.past_tense_verb`, such as `invoice.created`. */
  readonly action: string;
  /** Null for an entry about a user alone, which only the platform sees. */
  readonly organizationId: string | null;
  readonly targetType: string;
  readonly targetId: string;
  /** Values before and after the change; never secrets. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

export interface Auditor {
  /** Records a change with its actor, in the transaction of the change. */
  record(tx: Tx, at: Instant, entry: AuditEntry): void;
}

export function createAuditor(ids: IdSource): Auditor {
  return {
    record(tx, at, entry) {
      const { actor, ip, requestId } = tx.context;
      tx.append(auditLogs, {
        id: ids.next("auditLog", at),
        organizationId: entry.organizationId,
        actorType: actor.type,
        actorId: actor.id,
        actorLabel: actor.label,
        action: entry.action,
        targetType: entry.targetType,
        targetId: entry.targetId,
        ip,
        requestId,
        changes: entry.changes ?? {},
        position: null,
        hash: null,
        createdAt: at,
      });
    },
  };
}

/** Returns the fields of `after` that differ from `before`, each with both values. */
export function difference(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, { from: unknown; to: unknown }> {
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value))
      .map(([name, value]) => [name, { from: before[name] ?? null, to: value }]),
  );
}
