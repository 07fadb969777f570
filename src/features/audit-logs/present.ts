import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { formatHead, type AuditRow } from "../../platform/audit/chain.ts";
import type { AuditVerification } from "../../platform/audit/verify.ts";
import { AuditLogRecord, type AuditLogListRecord } from "./records.ts";

export function presentAuditLogs(page: Page<AuditRow>): z.input<typeof AuditLogListRecord> {
  return mapPage(page, presentAuditLog);
}

/** Presents the result of `till audit verify`. */
export function presentVerification({ entries, head, fault }: AuditVerification) {
  return { entries, head: formatHead(head), fault };
}

function presentAuditLog(row: AuditRow): z.input<typeof AuditLogRecord> {
  return presentRow(AuditLogRecord, row);
}
