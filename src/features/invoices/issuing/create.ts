import type { App } from "../../../app.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Money } from "../../../kernel/money/money.ts";
import type { Reader, WriteContext } from "../../../platform/database/database.ts";
import { customersAmong } from "../../customers/store.ts";
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
import { insertInvoice, isExternalIdTaken, noCustomer } from "./insert.ts";
import { issueInvoice } from "./issue.ts";
import { noteStarted, withinLinkLimits } from "./link-limits.ts";
import { foreseenOf, planIfAllowed, requireTokensInUse } from "./plan.ts";

export interface InvoiceInput extends DraftInput {
  readonly draft?: boolean | undefined;
}

export interface CreatedInvoice {
  readonly invoice: InvoiceView;
  /** True if the same request created the invoice earlier: nothing was changed. */
  readonly isReplayed: boolean;
}

/**
 * Creates an invoice and issues it, or keeps it as a draft. If it cannot be issued, nothing is created. The same
 * externalId with the same request returns the first invoice; with another request it is a 409.
 */
export async function createInvoice(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<CreatedInvoice> {
  const { db, clock, ids } = app;
  const terms = await offerOf(app, organizationId, input);
  const externalId = input.externalId ?? null;
  const fingerprint = externalId === null ? null : fingerprintOf(input);
  const earlier = { externalId: externalId ?? "", fingerprint, wanted: { input, terms } };
  if (externalId !== null) {
    const known = await findByExternalId(db, organizationId, externalId);
    if (known !== null) return first(app, context, organizationId, earlier);
  }
  await requireReferences(db, organizationId, input, terms);
  const plan =
    input.draft === true ? null : await planIfAllowed(db, app, clock.now(), organizationId, terms);
  // An organization's own options may wait for a token that is disabled for now; the checkout leaves such ones out.
  if (plan !== null && !namesNoOption(input)) await requireTokensInUse(db, app, terms.options);
  try {
    return await db.write(
      context,
      async (tx) => {
        const at = clock.now();
        const draft = draftRow(ids, at, organizationId, input, terms, fingerprint);
        const row =
          plan === null
            ? draft
            : await issueInvoice(tx, app, at, await withinLinkLimits(tx, draft), plan);
        noteStarted(tx, row);
        return { invoice: insertInvoice(tx, app, at, row), isReplayed: false };
      },
      foreseenOf(plan),
    );
  } catch (error) {
    if (!isExternalIdTaken(error) || externalId === null) throw error;
    return first(app, context, organizationId, earlier);
  }
}

/** Validates an invoice without creating it; throws the errors of its terms and references. Returns its amount. */
export async function checkInvoice(
  app: App,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<Money> {
  const terms = await offerOf(app, organizationId, input);
  await requireReferences(app.db, organizationId, input, terms);
  return terms.amount;
}

/** Throws `not_found` if the organization does not have the customer, or a wallet that the terms name. */
export async function requireReferences(
  reader: Reader,
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
  app: App,
  organizationId: Id<"organization">,
  input: InvoiceInput,
): Promise<OfferedTerms> {
  const usual = namesNoOption(input) ? await usualOptions(app.db, organizationId) : null;
  return readOffer(app, withEntry(organizationId, input), usual);
}

/**
 * Returns the invoice with this externalId to a request that repeats it. This is a write although nothing changes: it
 * stores the response for the request's Idempotency-Key, and it sees an identical request that commits in the same
 * batch.
 */
function first(
  app: App,
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
  return app.db.write(context, async (tx) => {
    const row = await findByExternalId(tx, organizationId, externalId);
    if (row === null || row.requestFingerprint !== fingerprint) {
      throw externalIdConflict(row, wanted);
    }
    return { invoice: await shownInvoice(tx, row, app.baseUrl()), isReplayed: true };
  });
}
