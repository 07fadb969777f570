import type { z } from "zod";
import { minute, type Clock, type Instant } from "../../kernel/clock.ts";
import { invalidField } from "../../kernel/errors.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import {
  parsePage,
  toPage,
  type Page,
  type PageQuery,
  type PageRequest,
} from "../../kernel/page.ts";
import { formatHead, parseHead, type AuditRow, type SealKey } from "../../platform/audit/chain.ts";
import { sealAll } from "../../platform/audit/sealer.ts";
import { auditLogs } from "../../platform/audit/table.ts";
import { verifyAudit, type AuditVerification } from "../../platform/audit/verify.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/database.ts";
import { pageQuery } from "../../platform/database/query/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Logger } from "../../platform/logger/index.ts";
import { platformOrganization } from "../organizations/store.ts";
import type { AuditHeadRecord } from "./records.ts";

export interface AuditFilters {
  readonly organizationId?: Id<"organization"> | undefined;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  /** Inclusive. */
  readonly createdFrom?: Instant | undefined;
  /** Exclusive. */
  readonly createdTo?: Instant | undefined;
}

export interface AuditLogService {
  /** Returns a page of an organization's entries, newest first. */
  list(
    organizationId: Id<"organization">,
    query: Omit<AuditFilters, "organizationId"> & PageQuery,
  ): Promise<Page<AuditRow>>;
  /** Returns a page of all organizations' entries, including those that concern only a user. */
  listAll(query: AuditFilters & PageQuery): Promise<Page<AuditRow>>;
  /**
   * Seals pending entries and verifies the whole chain. `kept` is a head that was stored elsewhere, such as `12:9f86…`;
   * a malformed one is a 400.
   */
  verify(context: WriteContext, kept: string | null): Promise<AuditVerification>;
  /**
   * Seals pending entries, logs the head, and sends it to the platform organization as the event `audit.head`. An
   * attacker with write access to the store can truncate the chain and restore an older head, but not these copies.
   */
  announceHead(context: WriteContext): Promise<void>;
}

/** Maximum lead of an id's timestamp over its row's: ids of a process never go back, and transactions take time. */
const idAheadMax = 1 * minute;

export function makeAuditLogService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly key: SealKey;
}): AuditLogService {
  const { db, clock, journal, logger, key } = deps;
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

    async verify(context, kept) {
      const head = kept === null ? null : parseHead(kept);
      if (kept !== null && head === null) {
        const message = "must be a head of the audit chain, as position:hash, such as 12:9f86…";
        throw invalidField("/head", "invalid_head", message);
      }
      return verifyAudit(db, key, context, head);
    },

    async announceHead(context) {
      const head = await sealAll(db, key, context);
      logger.info({ head: formatHead(head) }, "head of the audit chain");
      await db.write(context, async (tx) => {
        const platform = await platformOrganization(tx);
        if (platform === null) return;
        const data: z.input<typeof AuditHeadRecord> = { ...head };
        journal.record(tx, clock.now(), {
          organizationId: platform.id,
          subjectType: "audit_chain",
          subjectId: "audit_chain",
          events: { types: ["audit.head"], version: head.position, data },
        });
      });
    },
  };
}

async function find(reader: Reader, filters: AuditFilters, page: PageRequest): Promise<AuditRow[]> {
  const { organizationId, action, actorId, createdFrom, createdTo } = filters;
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["action =", action],
    ["actor_id =", actorId],
    // The times filter exactly; the id bounds let the database use the primary key index.
    ["created_at >=", createdFrom],
    ["id >=", createdFrom === undefined ? undefined : idFloor("auditLog", createdFrom)],
    ["created_at <", createdTo],
    ["id <", createdTo === undefined ? undefined : idFloor("auditLog", createdTo + idAheadMax)],
  ]);
  return reader.find(auditLogs, rest, values);
}
