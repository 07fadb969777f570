import * as z from "zod";
import { createdTimes, pageParameters } from "../../http/declare/list.ts";
import { invalidFields, type FieldError } from "../../kernel/errors.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { formatHead, type AuditRow } from "../../platform/audit/chain.ts";
import type { AuditVerification } from "../../platform/audit/verify.ts";
import {
  datetime,
  describeFields,
  id,
  instant,
  listRecord,
  presentRow,
  responseRecord,
} from "../../http/declare/record.ts";

const AuditLogRecord = responseRecord("AuditLog", {
  id: id("auditLog"),
  organizationId: id("organization").nullable().meta({
    description: "Null for entries that concern only a user; only the platform can read them.",
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
    description: "Changed values before and after, without secrets.",
  }),
  hash: z.string().nullable().meta({
    description:
      "Hash that links the entry to the previous one; null until it is sealed, within seconds.",
  }),
  createdAt: datetime(),
});
describeFields(AuditLogRecord, {
  actorType: "The kind of actor.",
  actorId: "The id of the user or API key; null for the operator and the system.",
  actorLabel:
    "The user's e-mail address, the key's name, the operator's name, or `system`, at the time of the action.",
  action: "The action, such as `invoice.created`.",
  targetType: "The kind of object that was changed.",
  targetId: "The id of that object.",
  ip: "The client's IP address; null if the action did not come by HTTP.",
  requestId: "The id of the request; null if the action did not come by HTTP.",
});

/** The `data` of `audit.head`. */
export const AuditHeadRecord = responseRecord("AuditHead", {
  position: z.int().meta({ description: "Number of sealed entries." }),
  hash: z.string().meta({ description: "Seal of the last one." }),
});

export const AuditLogListRecord = listRecord("AuditLogList", AuditLogRecord);

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

const replacedBy = (name: string) => ({ deprecated: true, description: `Use \`${name}\`.` });

/** Filters of a list of entries. */
export const auditLogQuery = {
  ...pageParameters,
  action: z.string().max(100).optional().meta({
    description: "Only entries of this action, such as `invoice.created`.",
  }),
  actorId: z.string().max(100).optional().meta({
    description: "Only entries of the user or API key with this id.",
  }),
  ...createdTimes,
  from: instant().optional().meta(replacedBy("createdFrom")),
  to: instant().optional().meta(replacedBy("createdTo")),
};

export const adminAuditLogQuery = {
  organizationId: id("organization").optional(),
  ...auditLogQuery,
};

interface TimeQuery {
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/**
 * Resolves the time filters. `from` and `to` are deprecated names of `createdFrom` and `createdTo`; a deprecated name
 * with a different time than the current one is a 400.
 */
export function withTimes<Q extends TimeQuery>({ createdFrom, createdTo, from, to, ...query }: Q) {
  const errors: FieldError[] = [];
  const read = (
    name: string,
    text: string | undefined,
    old: string,
    oldText: string | undefined,
  ) => {
    const times = [text, oldText].flatMap((given) =>
      given === undefined ? [] : Date.parse(given),
    );
    if (new Set(times).size > 1) {
      const message = `differs from ${name}, which replaces it; omit it`;
      errors.push({ parameter: old, code: "contradicting_parameters", message });
    }
    return times[0];
  };
  const times = {
    createdFrom: read("createdFrom", createdFrom, "from", from),
    createdTo: read("createdTo", createdTo, "to", to),
  };
  if (errors.length > 0) throw invalidFields(errors);
  return { ...query, ...times };
}
