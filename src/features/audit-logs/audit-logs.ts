import type { z } from "zod";
import { perApp, type App } from "../../app.ts";
import { minute, type Instant } from "../../kernel/clock.ts";
import { invalidField } from "../../kernel/errors.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import {
  parsePage,
  toPage,
  type Page,
  type PageQuery,
  type PageRequest,
} from "../../kernel/page.ts";
import { auditLogs, formatHead, parseHead, type AuditRow } from "../../platform/audit/chain.ts";
import { sealAll } from "../../platform/audit/head.ts";
import { verifyAudit, type AuditVerification } from "../../platform/audit/verify.ts";
import type { Reader, WriteContext } from "../../platform/database/database.ts";
import {
  organizationFilter,
  pageQuery,
  type ListOwner,
} from "../../platform/database/query/lists.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { platformOrganization } from "../organizations/store.ts";
import type { AuditHeadRecord } from "./records.ts";

interface AuditFilters {
  readonly organizationId?: Id<"organization"> | undefined;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  /** Inclusive. */
  readonly createdFrom?: Instant | undefined;
  /** Exclusive. */
  readonly createdTo?: Instant | undefined;
}

/** Maximum lead of an id's timestamp over its row's: ids of a process never go back, and transactions take time. */
const idAheadMax = 1 * minute;

/** The key of the seals in the audit chain. */
export const sealKey = perApp((app) => deriveKey(app.secret, "audit-seals"));

/**
 * Returns a page of an organization's entries, or for the platform of all, those that concern only a user among them,
 * newest first.
 */
export async function listAuditLogs(
  app: App,
  owner: ListOwner,
  { limit, cursor, ...given }: Omit<AuditFilters, "organizationId"> & PageQuery,
): Promise<Page<AuditRow>> {
  const filters = { ...given, organizationId: organizationFilter(owner) };
  const page = parsePage({ limit, cursor }, "audit_logs", filters);
  return toPage(await findEntries(app.db, filters, page), page);
}

/**
 * Seals pending entries and verifies the whole chain. `saved` is a head that was stored elsewhere, such as `12:9f86…`;
 * a malformed one is a 400.
 */
export async function verifyAuditLog(
  app: App,
  context: WriteContext,
  saved: string | null,
): Promise<AuditVerification> {
  const head = saved === null ? null : parseHead(saved);
  if (saved !== null && head === null) {
    const message = "must be a head of the audit chain, as position:hash, such as 12:9f86…";
    throw invalidField("/head", "invalid_head", message);
  }
  return verifyAudit(app.db, sealKey(app), context, head);
}

/**
 * Seals pending entries, logs the head, and sends it to the platform organization as the event `audit.head`. An
 * attacker with write access to the store can truncate the chain and restore an older head, but not these copies.
 */
export async function announceAuditHead(app: App, context: WriteContext): Promise<void> {
  const { db, clock, journal, logger } = app;
  const head = await sealAll(db, sealKey(app), context);
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
}

async function findEntries(
  reader: Reader,
  filters: AuditFilters,
  page: PageRequest,
): Promise<AuditRow[]> {
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
