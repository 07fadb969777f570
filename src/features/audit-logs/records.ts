import { z } from "zod";
import { pageParameters } from "../../api/list.ts";
import { datetime, id, instant, listRecord, responseRecord } from "../../api/record.ts";

export const AuditLogRecord = responseRecord("AuditLog", {
  id: id("auditLog"),
  organizationId: id("organization").nullable().meta({
    description: "Null for what concerns a user alone; such entries are the platform's to see.",
  }),
  actorType: z.enum(["user", "api_key", "operator", "system"]),
  actorId: z.string().nullable(),
  actorLabel: z.string(),
  action: z.string(),
  targetType: z.string(),
  targetId: z.string(),
  ip: z.string().nullable(),
  requestId: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()).meta({
    description: "What changed, before and after, without secrets.",
  }),
  hash: z.string().nullable().meta({
    description: "Links the entry to the one before it; null until it is sealed, within seconds.",
  }),
  createdAt: datetime(),
});

export const AuditLogListRecord = listRecord("AuditLogList", AuditLogRecord);

/** What narrows a list of entries. */
export const auditLogQuery = {
  ...pageParameters,
  action: z.string().max(100).optional(),
  actorId: z.string().max(100).optional(),
  from: instant().optional(),
  to: instant().optional(),
};

export const adminAuditLogQuery = {
  organizationId: id("organization").optional(),
  ...auditLogQuery,
};
export const AdminAuditLogQuery = z.strictObject(adminAuditLogQuery);

/** A query with its times as the service takes them. */
export function withTimes<
  Q extends { readonly from?: string | undefined; readonly to?: string | undefined },
>(query: Q) {
  const read = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return { ...query, from: read(query.from), to: read(query.to) };
}
