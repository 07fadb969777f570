import type { App, InTx } from "../../../app.ts";
import { canonicalJson, digest } from "../../../kernel/digest.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { NotFound, type FieldError, type Problem } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import { formatMoney, money, settlementAsset, type Money } from "../../../kernel/money/money.ts";
import type { Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { UniqueViolation } from "../../../platform/database/errors.ts";
import { customersAmong } from "../../customers/store.ts";
import { usualOptions } from "../../organizations/store.ts";
import { meterInvoice } from "../../usage/meter.ts";
import { ExternalIdConflict } from "../errors.ts";
import {
  foreseenOf,
  namesNoOption,
  planIfAllowed,
  readOffer,
  requireTokensInUse,
  requireWallets,
  type OfferedTerms,
  type OptionFields,
} from "./plan.ts";
import {
  shownInvoice,
  viewOf,
  type CreateInvoiceInput,
  type InvoiceView,
  type UpdateInvoiceInput,
} from "../records.ts";
import { noPayments } from "../rules.ts";
import { appendInvoice } from "../search/text-search.ts";
import { findByExternalId, type InvoiceRow } from "../store.ts";
import type { EntryOrigin } from "../table.ts";
import { announceInvoice, createdFields } from "./announce.ts";
import { issueInvoice } from "./issue.ts";
import { noteStarted, withinLinkLimits } from "./link-limits.ts";

/** The fields of a request, where an absent field takes its default and null means none, and who starts the invoice. */
export interface InvoiceInput extends Omit<CreateInvoiceInput, keyof OptionFields>, OptionFields {
  /** The link at which a payer without a credential entered the amount; absent: the merchant stated it. */
  readonly enteredAtLink?: EntryOrigin | null | undefined;
  /** The payment link at which a payer starts the invoice. */
  readonly startedAtLink?: Id<"paymentLink"> | null | undefined;
  /** The range of client addresses from which the payer started it: the widest of `addressGroups`. */
  readonly startedFrom?: string | null | undefined;
}

type DraftInput = Omit<InvoiceInput, "draft">;

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
    if (known !== null) return earlierInvoice(app, context, organizationId, earlier);
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
    return earlierInvoice(app, context, organizationId, earlier);
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
function earlierInvoice(
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
    readonly wanted: Wanted;
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

/** Stores a new invoice, counts it and announces it. Nothing in the transaction may read it before the commit. */
export function insertInvoice(tx: Tx, app: InTx, at: Instant, row: InvoiceRow): InvoiceView {
  // Nothing in this transaction reads the row, and its hold refers to it only by id.
  appendInvoice(tx, row);
  meterInvoice(tx, app.ids, at, null, row);
  const invoice = viewOf(row, app.baseUrl(), null);
  announceInvoice(
    tx,
    app,
    at,
    { types: ["invoice.created"], previousStatus: null, changes: createdFields(invoice) },
    invoice,
  );
  return invoice;
}

export function isExternalIdTaken(error: unknown): boolean {
  return error instanceof UniqueViolation && error.index === "invoices_external_id";
}

export function noCustomer(): Problem {
  return new NotFound("No customer with this customerId is visible to this credential.");
}

const defaultExpiresInSeconds = 3_600;

/** Returns an input that says who entered the amount: without a link, the organization stands for its client's form. */
export function withEntry<Input extends DraftInput>(
  organizationId: Id<"organization">,
  input: Input,
): Input {
  return input.payerEnteredAmount === true ? { ...input, enteredAtLink: organizationId } : input;
}

/** Returns a digest that identifies a create request by its content, regardless of the order of its fields. */
export function fingerprintOf(input: DraftInput): string {
  return digest(canonicalJson(input));
}

/** Returns the time that the payer of a request's invoice has. */
function expiresInSecondsOf({ expiresInSeconds }: DraftInput): number {
  return expiresInSeconds ?? defaultExpiresInSeconds;
}

/** Creates a new draft. `terms` are the parsed terms of the input. The first option is in force. */
export function draftRow(
  ids: IdSource,
  at: Instant,
  organizationId: Id<"organization">,
  input: DraftInput,
  terms: OfferedTerms,
  requestFingerprint: string | null,
): InvoiceRow {
  return {
    id: ids.next("invoice", at),
    organizationId,
    publicId: ids.unguessable("ipub"),
    checkoutId: null,
    status: "draft",
    exception: "none",
    version: 1,
    amount: terms.amount.units,
    settlementCurrency: terms.amount.asset.code,
    settlementDecimals: terms.amount.asset.decimals,
    tokenSymbol: terms.token.symbol,
    tokenDecimals: terms.token.decimals,
    network: terms.network.id,
    requiredConfirmations: terms.network.confirmations,
    payableAmount: null,
    askedAmount: null,
    remainingAmount: null,
    exchangeRate: null,
    dustAmount: null,
    underpaymentTolerance: terms.underpaymentTolerance,
    walletId: terms.walletId,
    walletAddress: null,
    addressIndex: null,
    customerId: input.customerId ?? null,
    externalId: input.externalId ?? null,
    requestFingerprint,
    description: input.description ?? null,
    redirectUrl: input.redirectUrl ?? null,
    expiresInSeconds: expiresInSecondsOf(input),
    managedBy: null,
    enteredAtLink: terms.enteredAtLink,
    startedAtLink: input.startedAtLink ?? null,
    startedFrom: input.startedFrom ?? null,
    metadata: input.metadata ?? {},
    seenAmount: noPayments.seen,
    confirmedAmount: noPayments.confirmed,
    paidAmount: null,
    isLate: noPayments.isLate,
    isReverted: noPayments.isReverted,
    latestBlock: noPayments.latestBlock,
    completedAt: noPayments.completedAt,
    transactionHashes: noPayments.transactionHashes,
    aside: null,
    expiresAt: null,
    lateUntil: null,
    createdAt: at,
    updatedAt: at,
    issuedAt: null,
    countedAt: null,
    paidAt: null,
    canceledAt: null,
    paymentOptions:
      terms.options.length > 1 ? terms.options.map((option) => ({ ...option, quote: null })) : null,
  };
}

/** Returns a draft's input with the changes applied, to be validated like a new one. */
export function editedInput(draft: InvoiceRow, changes: UpdateInvoiceInput): DraftInput {
  const { status: _, ...set } = changes;
  const asset = settlementAsset(draft.settlementCurrency, draft.settlementDecimals);
  const current: DraftInput = {
    amount: formatMoney(money(draft.amount, asset)),
    settlementCurrency: draft.settlementCurrency,
    ...optionFields(draft, changes),
    underpaymentTolerance: draft.underpaymentTolerance,
    customerId: draft.customerId,
    externalId: draft.externalId,
    description: draft.description,
    redirectUrl: draft.redirectUrl,
    expiresInSeconds: draft.expiresInSeconds,
    metadata: draft.metadata,
    enteredAtLink: draft.enteredAtLink,
  };
  const given = Object.entries(set).filter(([, value]) => value !== undefined);
  return { ...current, ...(Object.fromEntries(given) as Partial<DraftInput>) };
}

/** Returns the draft's options, unless the changes name others: one option replaces several, and the reverse. */
function optionFields(draft: InvoiceRow, changes: UpdateInvoiceInput): OptionFields {
  const { paymentOptions, network, tokenSymbol, walletId } = draft;
  const isOne =
    changes.network !== undefined ||
    changes.tokenSymbol !== undefined ||
    changes.walletId !== undefined;
  if (changes.paymentOptions !== undefined) return {};
  if (paymentOptions === null || isOne) return { network, tokenSymbol, walletId };
  return { paymentOptions };
}

/** A request for an invoice, with its parsed terms. */
interface Wanted {
  readonly input: InvoiceInput;
  readonly terms: OfferedTerms;
}

/**
 * Creates the problem of an externalId that an invoice of the same organization has. It names the invoice and, of a
 * request for a new one, the fields that differ, without their values.
 */
export function externalIdConflict(existing: InvoiceRow | null, wanted: Wanted | null): Problem {
  const id = existing?.id ?? "Another invoice of the organization";
  if (existing === null || wanted === null) {
    return new ExternalIdConflict(`${id} has this externalId. Send another one.`);
  }
  const names = differences(existing, wanted);
  const how =
    names.length === 0
      ? "from a request that was written differently"
      : `with another ${names.join(", ")}`;
  return new ExternalIdConflict(
    `${id} has this externalId, ${how}. If it is the invoice of this order, read it instead of creating another. For another order, or if the order has changed, send another externalId.`,
    {
      errors: names.map((name): FieldError => {
        return { pointer: `/${name}`, code: "differs", message: `differs from that of ${id}` };
      }),
    },
  );
}

/** Returns the names of the fields in which a request differs from an invoice as it is now. */
function differences(row: InvoiceRow, { input, terms }: Wanted): string[] {
  const asset = settlementAsset(row.settlementCurrency, row.settlementDecimals);
  const differs: Readonly<Record<string, boolean>> = {
    amount: formatMoney(money(row.amount, asset)) !== formatMoney(terms.amount),
    settlementCurrency: row.settlementCurrency !== terms.amount.asset.code,
    ...optionDifferences(row, input, terms),
    walletId: input.walletId != null && input.walletId !== row.walletId,
    underpaymentTolerance: row.underpaymentTolerance !== terms.underpaymentTolerance,
    customerId: row.customerId !== (input.customerId ?? null),
    description: row.description !== (input.description ?? null),
    redirectUrl: row.redirectUrl !== (input.redirectUrl ?? null),
    expiresInSeconds: row.expiresInSeconds !== expiresInSecondsOf(input),
    metadata: canonicalJson(row.metadata) !== canonicalJson(input.metadata ?? {}),
    // An invoice that is issued may have been a draft.
    draft: row.status === "draft" && input.draft !== true,
  };
  return Object.keys(differs).filter((name) => differs[name] === true);
}

function optionDifferences(
  { network, tokenSymbol, paymentOptions }: InvoiceRow,
  input: DraftInput,
  { options }: OfferedTerms,
): Readonly<Record<string, boolean>> {
  // The organization's own options may have changed since.
  if (namesNoOption(input)) return {};
  const [only] = options;
  if (paymentOptions === null && options.length === 1) {
    return { network: network !== only?.network, tokenSymbol: tokenSymbol !== only?.tokenSymbol };
  }
  const namesOf = (
    offered: readonly { readonly network: string; readonly tokenSymbol: string }[],
  ) => offered.map((option) => `${option.network} ${option.tokenSymbol}`).join();
  return {
    paymentOptions: namesOf(paymentOptions ?? [{ network, tokenSymbol }]) !== namesOf(options),
  };
}
