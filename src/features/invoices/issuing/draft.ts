import { digest } from "../../../kernel/digest.ts";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import { canonicalJson } from "../../../kernel/canonical-json.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import { noPayments } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";
import type { OfferedTerms, OptionFields } from "../options/requested.ts";
import type { TermsInput } from "./terms.ts";

const defaultExpiresInSeconds = 3_600;

/** The fields of an invoice in a request. An absent field takes its default; null means none. */
export interface DraftInput extends Omit<TermsInput, "network" | "tokenSymbol">, OptionFields {
  readonly customerId?: Id<"customer"> | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly redirectUrl?: string | null | undefined;
  readonly expiresInSeconds?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** True if a payer entered the amount in a form of the API client, such as one for donations. */
  readonly payerEnteredAmount?: boolean | undefined;
  /** The payment link at which a payer starts the invoice. */
  readonly startedAtLink?: Id<"paymentLink"> | null | undefined;
  /** The range of client addresses from which the payer started it: the widest of `addressGroups`. */
  readonly startedFrom?: string | null | undefined;
}

/** Returns an input that says who entered the amount: without a link, the organization stands for its client's form. */
export function withEntry<Input extends DraftInput>(
  organizationId: Id<"organization">,
  input: Input,
): Input {
  return input.payerEnteredAmount === true ? { ...input, enteredAtLink: organizationId } : input;
}

/** The fields that an update sets: absent keeps the value, null clears it. */
export type InvoiceChanges = {
  readonly [Name in keyof DraftInput]?: DraftInput[Name] | undefined;
} & { readonly status?: "open" | undefined };

/** Returns a digest that identifies a create request by its content, regardless of the order of its fields. */
export function fingerprintOf(input: DraftInput): string {
  return digest(canonicalJson(input));
}

/** Returns the time that the payer of a request's invoice has. */
export function expiresInSecondsOf({ expiresInSeconds }: DraftInput): number {
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
export function editedInput(draft: InvoiceRow, changes: InvoiceChanges): DraftInput {
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
function optionFields(draft: InvoiceRow, changes: InvoiceChanges): OptionFields {
  const { paymentOptions, network, tokenSymbol, walletId } = draft;
  const isOne =
    changes.network !== undefined ||
    changes.tokenSymbol !== undefined ||
    changes.walletId !== undefined;
  if (changes.paymentOptions !== undefined) return {};
  if (paymentOptions === null || isOne) return { network, tokenSymbol, walletId };
  return { paymentOptions };
}
