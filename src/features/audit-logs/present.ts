import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { formatHead, type AuditRow } from "../../platform/audit/chain.ts";
import type { AuditVerification } from "../../platform/audit/verify.ts";
import type { AuditLogListRecord, AuditLogRecord } from "./records.ts";

export function presentAuditLogs(page: Page<AuditRow>): z.input<typeof AuditLogListRecord> {
  return mapPage(page, presentAuditLog);
}

/** Presents the result of `till audit verify`. */
export function presentVerification({ entries, head, fault }: AuditVerification) {
  return { entries, head: formatHead(head), fault };
}

function presentAuditLog(row: AuditRow): z.input<typeof AuditLogRecord> {
  return {
    id: row.id,
    organizationId: row.organizationId,
    actorType: row.actorType,
    actorId: row.actorId,
    actorLabel: row.actorLabel,
    action: row.action,
    targetType: row.targetType,
    targetId: row.targetId,
    ip: row.ip,
    requestId: row.requestId,
    changes: row.changes,
    hash: row.hash,
    createdAt: toIso(row.createdAt),
  };
}
