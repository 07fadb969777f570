import { second } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { powerOfTen } from "../../../kernel/money/ratio.ts";
import type { Notation } from "../../../platform/chain/networks.ts";
import { askableRest, quoteFor, quotesOf } from "../../invoices/options/quotes.ts";
import { isWhole, type InvoiceCandidate } from "../../invoices/settlement/candidates.ts";
import { putInForce } from "../../invoices/settlement/terms-to-pay.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { takenOf } from "../ledger/payment-rules.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/** Reasons to suggest an invoice for a transfer, strongest first. */
export const suggestionReasons = [
  /** A payment of the transfer to this invoice is in review: accept it, or allocate the transfer otherwise. */
  "in_review",
  /** The unallocated amount equals the invoice's remaining amount or its payable amount. */
  "same_amount",
  /** The remaining amount rounded to two decimals, up or down, as some wallets do, or without its digits. */
  "rounded_amount",
  /** The amounts differ by at most 5 %: exchanges deduct their fee from the amount that they send. */
  "close_amount",
  /** The sender has paid invoices of the same customer before. */
  "same_customer",
  /** Less than the remaining amount, sent to the invoice's address between its issue and its deadline. */
  "possible_part",
  /** The transfer was made after the invoice's issue, and its block's time is before the deadline. */
  "in_time",
  /** The invoice asked for exactly this amount and is paid: its payer may have paid twice. */
  "already_paid",
  /** Not a reason for it, but against: the invoice was issued after the transfer was made, so its payer cannot have sent this. */
  "issued_afterwards",
] as const;
type SuggestionReason = (typeof suggestionReasons)[number];
/** Reasons to suggest an invoice that is not fully paid. */
type AskingReason = Exclude<SuggestionReason, "already_paid" | "issued_afterwards">;

/** An invoice that a transfer is probably for. A suggestion allocates nothing. */
export interface Suggestion {
  readonly invoice: InvoiceRow;
  /** The amount to allocate: the unallocated amount, capped at the remaining amount unless the two are close. */
  readonly amount: bigint;
  /** At least one. */
  readonly reasons: readonly SuggestionReason[];
}

/** The largest number of invoices suggested for a transfer. */
export const suggestionsMax = 5;

const clockSlackMs = 60 * second;
/** The largest difference between two close amounts, in percent of the remaining amount. */
const closePercent = 5n;

const weights: Readonly<Record<AskingReason, number>> = {
  in_review: 1_000,
  same_amount: 500,
  rounded_amount: 400,
  close_amount: 300,
  same_customer: 250,
  possible_part: 100,
  in_time: 50,
};

interface SuggestionCase {
  readonly transfer: TransferRow;
  readonly notation: Notation;
  readonly payments: readonly PaymentRow[];
  /** Invoices of the organization, also of other networks and tokens. */
  readonly candidates: readonly InvoiceCandidate[];
  /** Customers whose invoices the sender paid before; empty if there are many, as for exchanges. */
  readonly customers: ReadonlySet<Id<"customer">>;
  /** The invoices whose own address received the transfer; empty at a shared address. */
  readonly owners: readonly Pick<InvoiceRow, "id" | "customerId">[];
}

/**
 * Returns the invoices that a transfer fits best, best first, among those whose payer may have sent it. No invoice is
 * suggested merely because it is the only one, or although its payment of the transfer was rejected or reversed: it may
 * have promised the money back. Paid invoices come after those that ask for money and are not crowded out by them.
 * Invoices that were issued after the transfer come last, even after paid ones: a payer may pay twice, but nobody pays an
 * invoice that does not exist yet, whereas anybody can issue one for an amount that has already come.
 */
export function suggest(given: SuggestionCase): Suggestion[] {
  const { transfer, candidates, payments } = given;
  const left = transfer.amount - takenOf(payments);
  const excluded = new Set(
    payments
      .filter((payment) => payment.status === "rejected" || takenOf([payment]) > 0n)
      .map(({ invoiceId }) => invoiceId),
  );
  for (const { invoiceId, status } of payments) if (status === "review") excluded.delete(invoiceId);
  const fitting = candidates.flatMap((candidate) => {
    const invoice = inTokenOf(candidate.invoice, transfer);
    if (invoice === null || excluded.has(invoice.id) || !isPossible(given, invoice)) return [];
    return [{ ...candidate, invoice }];
  });
  const issuedAfterwards = new Set(
    fitting.filter((each) => isIssuedAfterwards(transfer, each)).map(({ invoice }) => invoice.id),
  );
  const twice = fitting
    .filter(
      ({ invoice, heldAmounts }) =>
        isWhole(invoice) && heldAmounts.includes(left) && isAtAddress(given, invoice),
    )
    .map(({ invoice }): Suggestion => ({ invoice, amount: left, reasons: ["already_paid"] }));
  const asking = fitting
    .filter(({ invoice }) => !isWhole(invoice))
    .filter(
      ({ invoice, heldAmounts }) => invoice.status !== "canceled" || heldAmounts.includes(left),
    )
    .map(({ invoice }) => ({ invoice, asked: askedBy(invoice) }))
    .map(({ invoice, asked }) => ({
      invoice,
      distance: asked > left ? asked - left : left - asked,
      amount: left > asked && !isClose(left, asked) ? asked : left,
      reasons: reasonsFor(given, invoice, {
        left,
        asked,
        isIssuedBefore: !issuedAfterwards.has(invoice.id),
      }),
    }))
    .filter(({ reasons }) => reasons.some((reason) => reason !== "in_time"))
    .sort(
      (one, other) =>
        weightOf(other.reasons) - weightOf(one.reasons) ||
        compare(one.distance, other.distance) ||
        compare(other.invoice.id, one.invoice.id),
    )
    .map(({ invoice, amount, reasons }): Suggestion => ({ invoice, amount, reasons }));
  const isAfterwards = ({ invoice }: Suggestion) => issuedAfterwards.has(invoice.id);
  const before = asking.filter((one) => !isAfterwards(one));
  const paid = twice.filter((one) => !isAfterwards(one));
  const afterwards = [...asking, ...twice]
    .filter(isAfterwards)
    .map((one) => ({ ...one, reasons: [...one.reasons, "issued_afterwards" as const] }));
  return [...before.slice(0, suggestionsMax - paid.length), ...paid, ...afterwards].slice(
    0,
    suggestionsMax,
  );
}

/**
 * Whether an invoice was issued after a transfer: by the record, and by the order of the chain if that is known. Otherwise
 * if the block is older than the invoice, by more than clocks differ.
 */
function isIssuedAfterwards(
  { network, blockTime, blockHeight, createdAt }: TransferRow,
  { invoice: { issuedAt }, marks }: Pick<InvoiceCandidate, "invoice" | "marks">,
): boolean {
  if (issuedAt === null) return false;
  if (createdAt < issuedAt) return true;
  const mark = marks.find((each) => each.network === network);
  if (mark !== undefined && blockHeight <= mark.height) return true;
  return mark?.isRecent !== true && blockTime < issuedAt - clockSlackMs;
}

/**
 * Whether a transfer can be for an invoice, by their addresses. Money at an invoice's own address is its payer's: it is
 * suggested for that invoice, and for others of the same customer. Money at a shared address is suggested for an invoice
 * with an address of its own only if the sender has paid for its customer before. A payer who submitted the hash for an
 * invoice comes before both.
 */
function isPossible({ payments, customers, owners }: SuggestionCase, invoice: InvoiceRow): boolean {
  const { id, customerId, addressIndex } = invoice;
  if (payments.some(({ invoiceId, status }) => invoiceId === id && status === "review"))
    return true;
  if (owners.length === 0) {
    return addressIndex === null || (customerId !== null && customers.has(customerId));
  }
  return owners.some(
    (owner) => owner.id === id || (customerId !== null && owner.customerId === customerId),
  );
}

/** Returns the invoice with the option in which the transfer is in force; null if the payer never chose that. */
function inTokenOf(invoice: InvoiceRow, transfer: TransferRow): InvoiceRow | null {
  if (invoice.network === transfer.network && invoice.tokenSymbol === transfer.token)
    return invoice;
  const quote = quoteFor(quotesOf(invoice), transfer);
  if (quote === undefined) return null;
  const row = putInForce(invoice, quote);
  if (invoice.remainingAmount === 0n) return { ...row, remainingAmount: 0n };
  const known = row.remainingAmount ?? 0n;
  const rest = known === 0n ? (row.payableAmount ?? 0n) - row.seenAmount : known;
  return { ...row, remainingAmount: askableRest(rest, row.dustAmount ?? 0n) };
}

/** Returns the amount that an invoice still asks for. */
function askedBy({ status, payableAmount, seenAmount, remainingAmount }: InvoiceRow): bigint {
  if (status === "canceled") return (payableAmount ?? 0n) - seenAmount;
  return remainingAmount ?? (payableAmount ?? 0n) - seenAmount;
}

function reasonsFor(
  given: SuggestionCase,
  invoice: InvoiceRow,
  {
    left,
    asked,
    isIssuedBefore,
  }: {
    /** The unallocated amount. */
    readonly left: bigint;
    readonly asked: bigint;
    /** Whether the invoice was issued before the transfer was made. */
    readonly isIssuedBefore: boolean;
  },
): AskingReason[] {
  const { transfer, payments, customers } = given;
  const { issuedAt, expiresAt, customerId } = invoice;
  const { blockTime } = transfer;
  const isInTime =
    issuedAt !== null && expiresAt !== null && isIssuedBefore && blockTime <= expiresAt;
  const isSame = left === asked || left === invoice.payableAmount;
  const isRounded = !isSame && isRoundedTo(left, asked, transfer.tokenDecimals);
  const holds: Readonly<Record<AskingReason, boolean>> = {
    in_review: payments.some(
      ({ invoiceId, status }) => invoiceId === invoice.id && status === "review",
    ),
    same_amount: isSame,
    rounded_amount: isRounded,
    close_amount: !isSame && !isRounded && isClose(left, asked),
    same_customer: customerId !== null && customers.has(customerId),
    possible_part: left < asked && !isClose(left, asked) && isInTime && isAtAddress(given, invoice),
    in_time: isInTime,
  };
  return suggestionReasons.filter(
    (reason): reason is AskingReason => reason in holds && holds[reason as AskingReason],
  );
}

function isAtAddress({ transfer, notation }: SuggestionCase, invoice: InvoiceRow): boolean {
  return invoice.walletAddress === notation.formatAddress(transfer.toAddress);
}

/**
 * True if the payer's wallet may have rounded an amount to two decimals, or the payer may have left out its
 * digits: at most 1 %, and less than a token.
 */
function isRoundedTo(left: bigint, asked: bigint, tokenDecimals: number): boolean {
  const hundredth = powerOfTen(Math.max(0, tokenDecimals - 2));
  const distance = asked > left ? asked - left : left - asked;
  const isDigits =
    asked > left &&
    asked % hundredth !== 0n &&
    distance * 100n <= left &&
    distance < 100n * hundredth;
  return left % hundredth === 0n && (distance < hundredth || isDigits);
}

function isClose(left: bigint, asked: bigint): boolean {
  const distance = asked > left ? asked - left : left - asked;
  return distance * 100n <= asked * closePercent;
}

function weightOf(reasons: readonly AskingReason[]): number {
  return reasons.reduce((sum, reason) => sum + weights[reason], 0);
}

function compare<T extends bigint | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
