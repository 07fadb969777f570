import {
  formatMoney,
  maxAssetDecimals,
  parseMoney,
  subtract,
  tokenAsset,
} from "../../../kernel/money/money.ts";
import { formatPrice, formatTime, networkText, type Catalogue } from "./catalogue.ts";
import { tokenText } from "./page-words.ts";
import type { CheckoutSession } from "../session.ts";
import type { CheckoutState } from "../rules.ts";

/** A time for people and for the script. */
export interface ShownTime {
  readonly iso: string;
  readonly text: string;
}

export interface Fact {
  readonly label: string;
  readonly value: string;
  /** Set if the value is a time. */
  readonly time: ShownTime | null;
}

export function shownTime(iso: string, text: Catalogue): ShownTime {
  return { iso, text: formatTime(text, Date.parse(iso)) };
}

function fact(label: string, value: string): Fact {
  return { label, value, time: null };
}

function timeFact(label: string, iso: string, text: Catalogue): Fact {
  const time = shownTime(iso, text);
  return { label, value: time.text, time };
}

/** The invoice's amount in tokens, and in the invoice's currency if that is another one. */
function askedText(session: CheckoutSession, text: Catalogue): string {
  const { amount, settlementCurrency, tokenSymbol, payableAmount } = session.invoice;
  const due = tokenText(session, payableAmount);
  if (settlementCurrency === tokenSymbol) return due;
  return `${due} (${formatPrice(text, amount, settlementCurrency)})`;
}

/**
 * States in which the deadline does not concern the payer: nothing is to be sent, and what was sent is in time or not
 * whatever the payer does. `late_review` shows it, because it is the reason.
 */
const withoutDeadline: ReadonlySet<CheckoutState> = new Set([
  "confirming",
  "in_review",
  "reverted",
  "canceled",
  "canceled_review",
]);

/** Returns the facts below a state in which the payment is not complete. */
export function progressFacts(session: CheckoutSession, text: Catalogue): Fact[] {
  const { invoice, state } = session;
  return [
    fact(text.asked, askedText(session, text)),
    ...session.arrivedAmounts.map(({ amount, tokenSymbol }) =>
      fact(text.received, `${amount} ${tokenSymbol}`),
    ),
    fact(text.network, networkText(session)),
    ...(withoutDeadline.has(state) || (state === "cannot_check" && !isTimed(session))
      ? []
      : [timeFact(isOver(session) ? text.expired : text.expires, invoice.expiresAt, text)]),
    fact(text.reference, invoice.reference),
  ];
}

/** Whether paying, or no longer paying, depends on the time: not where the token is not accepted. */
function isTimed({ nextAction }: CheckoutSession): boolean {
  return nextAction !== "contact_merchant";
}

/** Whether the deadline has passed; an invoice is marked as expired only once the blocks up to it were read. */
function isOver({ invoice, state, nextAction }: CheckoutSession): boolean {
  return invoice.status === "expired" || state === "late_review" || nextAction === "check_again";
}

export function receiptFacts(session: CheckoutSession, text: Catalogue): Fact[] {
  const { invoice, receipt } = session;
  const { description, externalId } = invoice;
  return [
    fact(text.merchant, session.merchantDisplayName),
    ...(description === null ? [] : [fact(text.purpose, description)]),
    ...(externalId === null ? [] : [fact(text.order, externalId)]),
    fact(text.invoiced, askedText(session, text)),
    fact(text.received, tokenText(session, invoice.receivedAmount)),
    ...(isZero(invoice.excessAmount)
      ? []
      : [fact(text.excess, tokenText(session, invoice.excessAmount))]),
    fact(text.network, networkText(session)),
    ...(receipt === null ? [] : [timeFact(text.paidAt, receipt.paidAt, text)]),
    fact(text.reference, invoice.reference),
  ];
}

/** Returns the sums of a payment that is complete and too much; none for any other, and once the excess was sent back. */
export function sumFacts(session: CheckoutSession, text: Catalogue): Fact[] {
  const { invoice, receipt, nextAction } = session;
  if (receipt === null || isZero(invoice.excessAmount) || nextAction === "none") return [];
  return [
    fact(text.sumPaid, tokenText(session, invoice.receivedAmount)),
    fact(text.sumAsked, tokenText(session, askedOf(invoice))),
    fact(text.sumExcess, tokenText(session, invoice.excessAmount)),
  ];
}

/** Returns what has arrived and was not sent back, of a payment that is complete and has no sums. */
export function totalText(session: CheckoutSession): string {
  return tokenText(session, askedOf(session.invoice));
}

/** Returns the most that was asked for, which may be above `payableAmount`: the rest of a payment may carry a surcharge. */
function askedOf({
  receivedAmount,
  excessAmount,
  tokenSymbol,
}: CheckoutSession["invoice"]): string {
  const digits = [receivedAmount, excessAmount].map((text) => text.split(".")[1]?.length ?? 0);
  const asset = tokenAsset(tokenSymbol, maxAssetDecimals, Math.min(...digits));
  return formatMoney(subtract(parseMoney(receivedAmount, asset), parseMoney(excessAmount, asset)));
}

/** Whether an amount of the session is zero, however many decimals it has. */
export function isZero(amount: string): boolean {
  return !/[1-9]/.test(amount);
}
