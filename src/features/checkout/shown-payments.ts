import { money, tokenAsset, type Money } from "../../kernel/money/money.ts";
import type { PayerPayment } from "../payments/payer-view.ts";
import type { CheckoutState } from "./rules.ts";
import type { StoredCheckout } from "./store.ts";

/** An invoice with its payments. */
type Paid = Pick<StoredCheckout, "invoice" | "payments">;

/** Returns the amount of a payment in its own token. */
export function moneyOf({ amount, token, tokenDecimals }: PayerPayment): Money {
  return money(amount, tokenAsset(token, tokenDecimals));
}

/** The ids of the payments that do not count and whose refund the payer can ask for. */
type Spare = ReadonlySet<string>;

/**
 * Returns the amounts that have arrived, by token: what counts, what waits for the merchant's decision and, once the
 * invoice is over, what the merchant has rejected and the payer can ask back.
 */
export function arrivedAmounts({ invoice, payments }: Paid, spare: Spare): Money[] {
  const more = payments.filter(
    ({ id, status }) => status === "review" || (isOver(invoice) && spare.has(id)),
  );
  return sumsByToken([invoice.received, ...more.map(moneyOf)]);
}

/** Returns the sum of the amounts in each token, in the order of their first; none that is 0. */
export function sumsByToken(amounts: readonly Money[]): Money[] {
  const sums = new Map<string, Money>();
  for (const amount of amounts) {
    const { code } = amount.asset;
    const before = sums.get(code);
    sums.set(code, before === undefined ? amount : addTokens(before, amount));
  }
  return [...sums.values()].filter(({ units }) => units > 0n);
}

/** Adds amounts of a token that may have other decimals on each network; the sum has the finer ones. */
function addTokens(one: Money, other: Money): Money {
  const asset = one.asset.decimals < other.asset.decimals ? other.asset : one.asset;
  const unitsOf = (amount: Money) =>
    amount.units * 10n ** BigInt(asset.decimals - amount.asset.decimals);
  return money(unitsOf(one) + unitsOf(other), asset);
}

/**
 * Returns the transactions shown to the payer, each as one payment for each token: those that count and, if the invoice
 * is expired or canceled, those that await the merchant's decision or can be asked back; after a reorganization, those
 * expected back.
 */
export function transactionsOf(
  { invoice, payments }: Paid,
  state: CheckoutState,
  spare: Spare,
): PayerPayment[] {
  const shown = payments.filter(
    ({ id, status }) =>
      status === "confirming" ||
      status === "confirmed" ||
      (isOver(invoice) && (status === "review" || spare.has(id))) ||
      (state === "reverted" && status === "reverted"),
  );
  const transactions = new Map<string, PayerPayment>();
  for (const payment of shown) {
    const key = `${payment.network} ${payment.transactionHash} ${payment.token}`;
    const amount = (transactions.get(key)?.amount ?? 0n) + payment.amount;
    transactions.set(key, { ...payment, amount });
  }
  return [...transactions.values()];
}

function isOver({ status }: Paid["invoice"]): boolean {
  return status === "expired" || status === "canceled";
}
