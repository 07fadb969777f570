import type { Clock } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Money } from "../../../kernel/money/money.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import { usualOptions } from "../../organizations/store.ts";
import {
  namesNoOption,
  readOffer,
  requireWallets,
  type OfferedTerms,
} from "../options/requested.ts";
import { shownInvoice, type InvoiceView } from "../present.ts";
import { findByExternalId } from "../store.ts";
import { draftRow, fingerprintOf, withEntry, type DraftInput } from "./draft.ts";
import { externalIdConflict } from "./external-id-conflict.ts";
import {
  insertInvoice,
  isExternalIdTaken,
  noCustomer,
  type CustomersAmong,
  type InsertDependencies,
} from "./insert.ts";
import { issue } from "./issue.ts";
import { noteStarted, withinLinkLimits } from "./link-limits.ts";
import { foreseenOf, planIssue, requireTokensInUse, type IssueDependencies } from "./plan.ts";

export interface InvoiceInput extends DraftInput {
  readonly draft?: boolean | undefined;
}

export interface CreatedInvoice {
  readonly invoice: InvoiceView;
  /** True if the same request created the invoice earlier: nothing was changed. */
  readonly isReplayed: boolean;
}

export interface CreateDependencies extends IssueDependencies, InsertDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly customersAmong: CustomersAmong;
}

/** Creates an invoice: `create` of InvoiceService. */
export async function createInvoice(
  deps: CreateDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<CreatedInvoice> {
  const { db, clock, ids } = deps;
  const terms = await offerOf(deps, organizationId, input);
  const externalId = input.externalId ?? null;
  const fingerprint = externalId === null ? null : fingerprintOf(input);
  const earlier = { externalId: externalId ?? "", fingerprint, wanted: { input, terms } };
  if (externalId !== null) {
    const known = await findByExternalId(db, organizationId, externalId);
    if (known !== null) return first(deps, context, organizationId, earlier);
  }
  await requireReferences(db, deps, organizationId, input, terms);
  const plan =
    input.draft === true
      ? null
      : await planIssue(db, deps, organizationId, terms, terms.walletId, clock.now());
  // An organization's own options may wait for a token that is disabled for now; the checkout leaves such ones out.
  if (plan !== null && !namesNoOption(input)) await requireTokensInUse(db, deps, terms.options);
  try {
    return await db.write(
      context,
      async (tx) => {
        const at = clock.now();
        const draft = draftRow(ids, at, organizationId, input, terms, fingerprint);
        const row =
          plan === null
            ? draft
            : await issue(tx, deps, await withinLinkLimits(tx, draft), plan, at);
        noteStarted(tx, row);
        return { invoice: insertInvoice(deps, tx, at, row), isReplayed: false };
      },
      foreseenOf(plan),
    );
  } catch (error) {
    if (!isExternalIdTaken(error) || externalId === null) throw error;
    return first(deps, context, organizationId, earlier);
  }
}

/** Validates an invoice without creating it: `check` of InvoiceService. */
export async function checkInvoice(
  deps: CreateDependencies,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<Money> {
  const terms = await offerOf(deps, organizationId, input);
  await requireReferences(deps.db, deps, organizationId, input, terms);
  return terms.amount;
}

/** Throws `not_found` if the organization does not have the customer, or a wallet that the terms name. */
export async function requireReferences(
  reader: Reader,
  { customersAmong }: CreateDependencies,
  organizationId: Id<"organization">,
  { customerId }: DraftInput,
  { options }: OfferedTerms,
): Promise<void> {
  await requireWallets(reader, organizationId, options);
  if (customerId == null) return;
  const found = await customersAmong(reader, organizationId, [customerId]);
  if (!found.has(customerId)) throw noCustomer();
}

async function offerOf(
  deps: CreateDependencies,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<OfferedTerms> {
  const usual = namesNoOption(input) ? await usualOptions(deps.db, organizationId) : null;
  return readOffer(deps, withEntry(organizationId, input), usual);
}

/**
 * Returns the invoice with this externalId to a request that repeats it. This is a write although nothing changes: it
 * stores the response for the request's Idempotency-Key, and it sees an identical request that commits in the same
 * batch.
 */
function first(
  { db, baseUrl }: CreateDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  {
    externalId,
    fingerprint,
    wanted,
  }: {
    readonly externalId: string;
    readonly fingerprint: string | null;
    readonly wanted: { readonly input: InvoiceInput; readonly terms: OfferedTerms };
  },
): Promise<CreatedInvoice> {
  return db.write(context, async (tx) => {
    const row = await findByExternalId(tx, organizationId, externalId);
    if (row === null || row.requestFingerprint !== fingerprint) {
      throw externalIdConflict(row, wanted);
    }
    return { invoice: await shownInvoice(tx, row, baseUrl()), isReplayed: true };
  });
}
