import { minute, type Instant } from "../../kernel/clock.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import {
  parsePage,
  toPage,
  type Page,
  type PageQuery,
  type PageRequest,
} from "../../kernel/page.ts";
import type { AuditRow } from "../../platform/audit/chain.ts";
import { auditLogs } from "../../platform/audit/table.ts";
import type { Reader } from "../../platform/database/index.ts";
import { pageQuery } from "../../platform/database/page-query.ts";

export interface AuditFilters {
  readonly organizationId?: Id<"organization"> | undefined;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  /** From this moment on. */
  readonly from?: Instant | undefined;
  /** Before this moment. */
  readonly to?: Instant | undefined;
}

export interface AuditLogService {
  /** A page of an organization's entries, newest first. */
  list(
    organizationId: Id<"organization">,
    query: Omit<AuditFilters, "organizationId"> & PageQuery,
  ): Promise<Page<AuditRow>>;
  /** A page of every organization's entries, and of those about users alone. */
  listAll(query: AuditFilters & PageQuery): Promise<Page<AuditRow>>;
}

/** How far the time in an id may run ahead of its row's: ids of one process never go back, transactions take time. */
const idAheadMax = 1 * minute;

export function makeAuditLogService(deps: { readonly db: Reader }): AuditLogService {
  const { db } = deps;
  return {
    async list(organizationId, { limit, cursor, ...given }) {
      const filters = { ...given, organizationId };
      const page = parsePage({ limit, cursor }, "audit_logs", filters);
      return toPage(await find(db, filters, page), page);
    },

    async listAll({ limit, cursor, ...filters }) {
      const page = parsePage({ limit, cursor }, "admin_audit_logs", filters);
      return toPage(await find(db, filters, page), page);
    },
  };
}

async function find(reader: Reader, filters: AuditFilters, page: PageRequest): Promise<AuditRow[]> {
  const { organizationId, action, actorId, from, to } = filters;
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["action =", action],
    ["actor_id =", actorId],
    // The times decide; the ids beside them let an index find the rows.
    ["created_at >=", from],
    ["id >=", from === undefined ? undefined : idFloor("auditLog", from)],
    ["created_at <", to],
    ["id <", to === undefined ? undefined : idFloor("auditLog", to + idAheadMax)],
  ]);
  return reader.find(auditLogs, rest, values);
}
