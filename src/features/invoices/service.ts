import type { Clock, Instant } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Money } from "../../kernel/money/money.ts";
import { mapPage, parsePage, toPartialPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { networkState, networkStates } from "../../platform/chain/state/network-state.ts";
import {
  type Database,
  type Reader,
  type Tx,
  type WriteContext,
} from "../../platform/database/index.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { usualOptions } from "../organizations/index.ts";
import { meterInvoice } from "../usage/index.ts";
import { announce, changedFields } from "./issuing/announce.ts";
import {
  draftRow,
  editedInput,
  fingerprintOf,
  type DraftInput,
  type InvoiceChanges,
} from "./issuing/draft.ts";
import { InvoiceNotCancelable, InvoiceNotEditable } from "./errors.ts";
import {
  externalIdConflict,
  insertInvoice,
  isExternalIdTaken,
  noCustomer,
  type CustomersAmong,
  type InsertDependencies,
} from "./issuing/insert.ts";
import { requireUnmanaged } from "./managed/service.ts";
import { endHolds } from "./holds/matching.ts";
import { issue } from "./issuing/issue.ts";
import { foreseenOf, planIssue, type IssueDependencies } from "./issuing/plan.ts";
import {
  namesNoOption,
  readOffer,
  requireWallets,
  type OfferedTerms,
} from "./options/requested.ts";
import { positionIn, sortOf, type InvoiceFilters } from "./search/filters.ts";
import { listInvoices } from "./search/listing.ts";
import type { InvoicesOfTransaction } from "./search/narrowing.ts";
import { payerInvoice, type PayerInvoice } from "./payer-view.ts";
import { viewOf, type InvoiceView } from "./present.ts";
import { replaceTerms } from "./search/search-terms.ts";
import { findByCheckoutId, findByExternalId, findInvoice, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

export interface InvoiceInput extends DraftInput {
  readonly draft?: boolean | undefined;
}

export interface CreatedInvoice {
  readonly invoice: InvoiceView;
  /** True if the same request created the invoice earlier: nothing was changed. */
  readonly isReplayed: boolean;
}

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

export interface InvoiceDependencies extends IssueDependencies, InsertDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly invoicesOfTransaction: InvoicesOfTransaction;
  readonly customersAmong: CustomersAmong;
}

export function makeInvoiceService(deps: InvoiceDependencies): InvoiceService {
  const { db, clock, ids, baseUrl } = deps;

  async function shown(reader: Reader, row: InvoiceRow): Promise<InvoiceView> {
    const state = row.latestBlock === null ? null : await networkState(reader, row.network);
    return viewOf(row, baseUrl(), state?.tipHeight ?? null);
  }

  /**
   * Returns the invoice with this externalId to a request that repeats it. This is a write although nothing changes: it
   * stores the response for the request's Idempotency-Key, and it sees an identical request that commits in the same
   * batch.
   */
  function first(
    context: WriteContext,
    organizationId: Id<"organization">,
    externalId: string,
    fingerprint: string,
  ): Promise<CreatedInvoice> {
    return db.write(context, async (tx) => {
      const row = await findByExternalId(tx, organizationId, externalId);
      if (row?.requestFingerprint !== fingerprint) throw externalIdConflict();
      return { invoice: await shown(tx, row), isReplayed: true };
    });
  }

  async function requireReferences(
    reader: Reader,
    organizationId: Id<"organization">,
    { customerId }: DraftInput,
    { options }: OfferedTerms,
  ): Promise<void> {
    await requireWallets(reader, organizationId, options);
    if (customerId == null) return;
    const found = await deps.customersAmong(reader, organizationId, [customerId]);
    if (!found.has(customerId)) throw noCustomer();
  }

  async function lockView(
    tx: Tx,
    organizationId: Id<"organization">,
    invoiceId: Id<"invoice">,
  ): Promise<InvoiceView> {
    const row = await tx.lockOne(invoices, "WHERE organization_id = $1 AND id = $2", [
      organizationId,
      invoiceId,
    ]);
    if (row === null) throw notFound();
    return shown(tx, row);
  }

  async function save(
    tx: Tx,
    at: Instant,
    type: EventType,
    before: InvoiceView,
    after: InvoiceRow,
  ): Promise<InvoiceView> {
    const { id, organizationId: _, publicId: __, createdAt: ___, ...rest } = after;
    const set = { ...rest, version: before.version + 1, updatedAt: at };
    const view = viewOf({ ...after, ...set }, baseUrl(), before.tipHeight);
    const changes = changedFields(before, view);
    if (Object.keys(changes).length === 0) return before;
    await tx.update(invoices, set, "WHERE id = $1", [id]);
    await replaceTerms(tx, before, after);
    meterInvoice(tx, ids, at, before, view);
    announce(deps, tx, at, { types: [type], previousStatus: before.status, changes }, view);
    return view;
  }

  return {
    async create(context, organizationId, input) {
      const usual = namesNoOption(input) ? await usualOptions(db, organizationId) : null;
      const terms = readOffer(deps, input, usual);
      const externalId = input.externalId ?? null;
      const fingerprint = externalId === null ? null : fingerprintOf(input);
      if (externalId !== null && fingerprint !== null) {
        const known = await findByExternalId(db, organizationId, externalId);
        if (known !== null) return first(context, organizationId, externalId, fingerprint);
      }
      await requireReferences(db, organizationId, input, terms);
      const plan =
        input.draft === true
          ? null
          : await planIssue(db, deps, organizationId, terms, terms.walletId, clock.now());
      try {
        return await db.write(
          context,
          async (tx) => {
            const at = clock.now();
            const draft = draftRow(ids, at, organizationId, input, terms, fingerprint);
            const row = plan === null ? draft : await issue(tx, deps, draft, plan, at);
            return { invoice: insertInvoice(deps, tx, at, row), isReplayed: false };
          },
          foreseenOf(plan),
        );
      } catch (error) {
        if (!isExternalIdTaken(error) || externalId === null || fingerprint === null) throw error;
        return first(context, organizationId, externalId, fingerprint);
      }
    },

    async check(organizationId, input) {
      const usual = namesNoOption(input) ? await usualOptions(db, organizationId) : null;
      const terms = readOffer(deps, input, usual);
      await requireReferences(db, organizationId, input, terms);
      return terms.amount;
    },

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
          const current = await lockView(tx, organizationId, invoiceId);
          expect(current);
          requireUnmanaged(current);
          if (current.status !== "draft") {
            throw new InvoiceNotEditable(
              "Only drafts can be changed. Cancel the invoice and create another.",
            );
          }
          const input = editedInput(current, changes);
          const terms = readOffer(deps, input);
          await requireReferences(tx, organizationId, input, terms);
          const { requestFingerprint } = current;
          const { id, publicId, createdAt, version } = current;
          const draft = {
            ...draftRow(ids, at, organizationId, input, terms, requestFingerprint),
            id,
            publicId,
            createdAt,
            version,
          };
          if (changes.status === undefined) return save(tx, at, "invoice.updated", current, draft);
          const plan = await planIssue(tx, deps, organizationId, terms, terms.walletId, at);
          const issued = await issue(tx, deps, draft, plan, at);
          return save(tx, at, "invoice.issued", current, issued);
        });
      } catch (error) {
        throw isExternalIdTaken(error) ? externalIdConflict() : error;
      }
    },

    cancel(context, organizationId, invoiceId) {
      return db.write(context, async (tx) => {
        const at = clock.now();
        const current = await lockView(tx, organizationId, invoiceId);
        requireUnmanaged(current);
        const { status, seenAmount } = current;
        const isCancelable = status === "draft" || status === "open" || status === "expired";
        if (!isCancelable || seenAmount > 0n) {
          throw new InvoiceNotCancelable(
            "A draft, an open or an expired invoice can be canceled while it has no payments. Read the invoice to see its status.",
          );
        }
        await endHolds(tx, current, at);
        const remainingAmount = current.payableAmount === null ? null : 0n;
        const { checkoutUrl: _, tipHeight: __, ...row } = current;
        const canceled = { ...row, status: "canceled" as const, canceledAt: at, remainingAmount };
        return save(tx, at, "invoice.canceled", current, canceled);
      });
    },
  };
}
