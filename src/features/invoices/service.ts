import type { Instant } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Money } from "../../kernel/money/money.ts";
import { mapPage, parsePage, toPartialPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { cancelInvoice, lockView, saveChange, type ChangeDependencies } from "./issuing/cancel.ts";
import {
  checkInvoice,
  createInvoice,
  requireReferences,
  type CreatedInvoice,
  type CreateDependencies,
  type InvoiceInput,
} from "./issuing/create.ts";
import { draftRow, editedInput, type InvoiceChanges } from "./issuing/draft.ts";
import { InvoiceNotEditable } from "./errors.ts";
import { externalIdConflict } from "./issuing/external-id-conflict.ts";
import { isExternalIdTaken } from "./issuing/insert.ts";
import { requireUnmanaged } from "./managed/service.ts";
import { issue } from "./issuing/issue.ts";
import { planIssue } from "./issuing/plan.ts";
import { readOffer } from "./options/requested.ts";
import { positionIn, sortOf, type InvoiceFilters } from "./search/filters.ts";
import { listInvoices } from "./search/listing.ts";
import type { InvoicesOfTransaction } from "./search/narrowing.ts";
import { payerInvoice, type PayerInvoice } from "./payer-view.ts";
import { shownInvoice, viewOf, type InvoiceView } from "./present.ts";
import { findByCheckoutId, findByExternalId, findInvoice, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

export interface InvoiceService {
  /**
   * Creates an invoice and issues it, or keeps it as a draft. If it cannot be issued, nothing is created. The same
   * externalId with the same request returns the first invoice; with another request it is a 409.
   */
  create(
    context: WriteContext,
    organizationId: Id<"organization">,
    input: InvoiceInput,
  ): Promise<CreatedInvoice>;
  /** Validates an invoice without creating it; throws the errors of its terms and references. Returns its amount. */
  check(organizationId: Id<"organization">, input: InvoiceInput): Promise<Money>;
  get(organizationId: Id<"organization">, invoiceId: Id<"invoice">): Promise<InvoiceView>;
  /** Finds an invoice of any organization, for the operator. */
  find(invoiceId: Id<"invoice">): Promise<InvoiceView>;
  /**
   * Returns the payer's view of a checkout session; null if it does not exist. The unguessable id is its only
   * protection.
   */
  bySessionId(reader: Reader, checkoutId: string): Promise<PayerInvoice | null>;
  list(
    organizationId: Id<"organization">,
    query: InvoiceFilters & PageQuery,
  ): Promise<Page<InvoiceView>>;
  /** Updates a draft; `status: "open"` issues it. */
  update(
    context: WriteContext,
    organizationId: Id<"organization">,
    invoiceId: Id<"invoice">,
    changes: InvoiceChanges,
    expect: (current: InvoiceView) => void,
  ): Promise<InvoiceView>;
  /** Cancels a draft, or an open or expired invoice; never one with payments. */
  cancel(
    context: WriteContext,
    organizationId: Id<"organization">,
    invoiceId: Id<"invoice">,
  ): Promise<InvoiceView>;
}

export interface InvoiceDependencies extends CreateDependencies, ChangeDependencies {
  readonly invoicesOfTransaction: InvoicesOfTransaction;
}

export function makeInvoiceService(deps: InvoiceDependencies): InvoiceService {
  const { db, clock, baseUrl } = deps;
  const shown = (reader: Reader, row: InvoiceRow) => shownInvoice(reader, row, baseUrl());

  return {
    create: (context, organizationId, input) => createInvoice(deps, context, organizationId, input),

    check: (organizationId, input) => checkInvoice(deps, organizationId, input),

    async get(organizationId, invoiceId) {
      const row = await findInvoice(db, organizationId, invoiceId);
      if (row === null) throw notFound();
      return shown(db, row);
    },

    async find(invoiceId) {
      const row = await db.findOne(invoices, "WHERE id = $1", [invoiceId]);
      if (row === null) throw notFound();
      return shown(db, row);
    },

    async bySessionId(reader, checkoutId) {
      const row = await findByCheckoutId(reader, checkoutId);
      return row === null ? null : payerInvoice(await shown(reader, row));
    },

    async list(organizationId, { limit, cursor, ...filters }) {
      const sort = sortOf(filters);
      const { metadata, ...others } = filters;
      const page = parsePage({ limit, cursor }, "invoices", {
        organizationId,
        ...others,
        sort,
        metadata: metadata === undefined ? undefined : [metadata.key, metadata.value],
      });
      const [{ rows, resumeAt }, states] = await Promise.all([
        listInvoices(db, deps.invoicesOfTransaction, organizationId, filters, page),
        networkStates(db),
      ]);
      const found = toPartialPage(rows, page, (row) => positionIn(sort, row), resumeAt);
      return mapPage(found, (row) =>
        viewOf(row, baseUrl(), states.get(row.network)?.tipHeight ?? null),
      );
    },

    async update(context, organizationId, invoiceId, changes, expect) {
      try {
        return await db.write(context, async (tx) => {
          const at = clock.now();
          const current = await lockView(tx, deps, organizationId, invoiceId);
          expect(current);
          return updateDraft(tx, deps, at, current, changes);
        });
      } catch (error) {
        const { externalId } = changes;
        if (!isExternalIdTaken(error) || externalId == null) throw error;
        throw externalIdConflict(await findByExternalId(db, organizationId, externalId), null);
      }
    },

    cancel: (context, organizationId, invoiceId) =>
      db.write(context, (tx) => cancelInvoice(tx, deps, organizationId, invoiceId, clock.now())),
  };
}

async function updateDraft(
  tx: Tx,
  deps: InvoiceDependencies,
  at: Instant,
  current: InvoiceView,
  changes: InvoiceChanges,
): Promise<InvoiceView> {
  requireUnmanaged(current);
  if (current.status !== "draft") {
    throw new InvoiceNotEditable(
      "Only drafts can be changed. Cancel the invoice and create another.",
    );
  }
  const { id, organizationId, publicId, requestFingerprint, createdAt, version } = current;
  const input = editedInput(current, changes);
  const terms = readOffer(deps, input);
  await requireReferences(tx, deps, organizationId, input, terms);
  const draft = {
    ...draftRow(deps.ids, at, organizationId, input, terms, requestFingerprint),
    id,
    publicId,
    createdAt,
    version,
  };
  if (changes.status === undefined)
    return saveChange(tx, deps, at, "invoice.updated", current, draft);
  const plan = await planIssue(tx, deps, organizationId, terms, terms.walletId, at);
  const issued = await issue(tx, deps, draft, plan, at);
  return saveChange(tx, deps, at, "invoice.issued", current, issued);
}
