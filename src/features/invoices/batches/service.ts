import { perApp, type App, type InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { Defect, Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { holdLock } from "../../../platform/database/write/locks.ts";
import { draftRow } from "../issuing/draft.ts";
import { insertInvoice, isExternalIdTaken } from "../issuing/insert.ts";
import { placeInvoices, type Issuable } from "../issuing/issue.ts";
import type { Grant } from "../hooks.ts";
import type { InvoiceRow } from "../store.ts";
import {
  batchMax,
  isRefusal,
  refusedFor,
  type BatchItem,
  type BatchOutcome,
  type InvoiceBatch,
} from "./batch.ts";
import { prepareBatch, type ReadyItem } from "./prepare.ts";
import { makeTurns } from "./turns.ts";

/** The batches of this process: one after another for each organization. */
const turnsIn = perApp(makeTurns);

/**
 * Creates at most `batchMax` invoices in one transaction, each with the result that a single create would have. An
 * invoice that is refused does not affect the others. If the store fails, nothing is created.
 */
export function createInvoiceBatch(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
): Promise<InvoiceBatch> {
  // The turns leave the other connections to other writes, where the lock would occupy them all.
  return turnsIn(app).take(organizationId, async () => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt(app, context, organizationId, items);
      } catch (error) {
        // A concurrent request created one of the invoices; the next attempt finds it. There are not more of them.
        if (!isExternalIdTaken(error) || tries > batchMax) throw error;
      }
    }
  });
}

/** Plans and writes a batch. Throws UniqueViolation if an externalId was taken in the meantime. */
async function attempt(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  items: readonly BatchItem[],
): Promise<InvoiceBatch> {
  const { db, clock, baseUrl } = app;
  const prepared = await prepareBatch(app, organizationId, items, clock.now());
  return db.write(context, async (tx) => {
    // Two batches would otherwise wait for each other's held amounts, which PostgreSQL ends as a deadlock.
    await holdLock(tx, `invoice batch ${organizationId}`);
    const at = clock.now();
    const created = await createReady(tx, app, at, organizationId, prepared.ready);
    const outcomes = items.map((_, index): BatchOutcome => {
      const { settled, sameAs } = prepared;
      const known = sameAs.get(index) ?? index;
      const outcome = settled.get(index) ?? created.get(known) ?? settled.get(known);
      if (outcome === undefined) throw new Defect("an invoice of a batch has no result");
      // The first of two identical items creates the invoice, and the second one finds it.
      return known !== index && outcome.outcome === "created"
        ? { ...outcome, outcome: "existing" }
        : outcome;
    });
    return {
      results: outcomes.map((outcome, index) => ({
        ...outcome,
        externalId: items[index]?.externalId ?? null,
      })),
      requestId: context.requestId,
      baseUrl: baseUrl(),
    };
  });
}

async function createReady(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  ready: readonly ReadyItem[],
): Promise<ReadonlyMap<number, BatchOutcome>> {
  const drafts = ready.map((item) => {
    const { input, terms, fingerprint, plan } = item;
    return { item, plan, draft: draftRow(app.ids, at, organizationId, input, terms, fingerprint) };
  });
  const issued = await issueGranted(
    tx,
    app,
    at,
    drafts.flatMap(({ draft, plan }) => (plan === null ? [] : [{ draft, plan }])),
  );
  const outcomes = drafts.map(({ item, draft }): [number, BatchOutcome] => {
    const row = issued.get(draft.id) ?? draft;
    return [
      item.index,
      row instanceof Problem
        ? refusedFor(row)
        : { outcome: "created", invoice: insertInvoice(tx, app, at, row) },
    ];
  });
  return new Map(outcomes);
}

/**
 * Issues the invoices that the gate grants, as many together as it grants at once. An invoice that cannot be issued
 * passes its grant on to a later one. Returns the issued invoices and the problems of the others.
 */
async function issueGranted(
  tx: Tx,
  app: InTx,
  at: Instant,
  issuables: readonly Issuable[],
): Promise<ReadonlyMap<Id<"invoice">, InvoiceRow | Problem>> {
  const issued = new Map<Id<"invoice">, InvoiceRow | Problem>();
  const decision = issuables[0]?.plan.decision;
  if (decision === undefined) return issued;
  let left = issuables;
  let grant: Grant = { count: 0, isCounted: false };
  while (left.length > 0) {
    if (grant.count === 0) {
      try {
        grant = await decision.grant(tx, at, left.length);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        for (const { draft } of left) issued.set(draft.id, error);
        return issued;
      }
    }
    const now = left.slice(0, grant.count);
    left = left.slice(now.length);
    const placed = await placeInvoices(tx, app, at, now);
    for (const [index, { draft }] of now.entries()) {
      const result = placed[index];
      if (result !== undefined) issued.set(draft.id, result);
    }
    const used = placed.filter((result) => !(result instanceof Problem)).length;
    grant = { ...grant, count: grant.count - used };
  }
  if (grant.count > 0 && grant.isCounted) await decision.giveBack(tx, grant.count);
  return issued;
}
