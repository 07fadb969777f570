import type { Instant } from "../../../kernel/clock.ts";
import { findToken } from "../../../platform/chain/networks.ts";
import type { Tx } from "../../../platform/database/index.ts";
import { searchAmount } from "../holds/amount-search.ts";
import { holdAmounts, type HoldDependencies } from "../holds/holds.ts";
import { payableTerms } from "./terms-to-pay.ts";
import type { InvoiceRow } from "../store.ts";
import type { Networks } from "../issuing/terms.ts";

export interface RemainingDependencies extends HoldDependencies {
  readonly networks: Networks;
}

/**
 * Returns the amount that the payer still has to send. After a partial payment at a shared address, the rest must be
 * distinguishable from other amounts too, so it is held like a price.
 */
export async function remainingAmount(
  tx: Tx,
  deps: RemainingDependencies,
  before: InvoiceRow,
  after: InvoiceRow,
  at: Instant,
): Promise<bigint | null> {
  const { payableAmount, seenAmount } = after;
  if (payableAmount === null) return null;
  switch (after.status) {
    case "paid":
    case "confirming":
    case "canceled":
      return 0n;
    case "draft":
    case "open":
      return payableAmount;
    case "expired":
    case "partially_paid": {
      const rest = payableAmount - seenAmount;
      const isKnown = before.seenAmount === seenAmount && before.remainingAmount !== 0n;
      if (isKnown) return before.remainingAmount;
      if (after.status === "expired" || after.addressIndex !== null) return rest;
      return (await holdRest(tx, deps, after, rest, at)) ?? rest;
    }
  }
}

/**
 * Holds the unpaid rest of a price on a shared address. Returns null if it cannot be held; then only the merchant can
 * match its payment.
 */
async function holdRest(
  tx: Tx,
  deps: RemainingDependencies,
  invoice: InvoiceRow,
  rest: bigint,
  at: Instant,
): Promise<bigint | null> {
  const terms = payableTerms(invoice);
  const network = deps.networks.get(invoice.network);
  if (terms === null || network === undefined || invoice.walletAddress === null) return null;
  const token = findToken(network, invoice.tokenSymbol);
  const address = network.kind.parseAddress(invoice.walletAddress);
  if (token === null || rest < token.dust || !address.ok) return null;
  const least = terms.dueAmount - invoice.seenAmount;
  const { id: invoiceId, organizationId, tokenDecimals } = invoice;
  const place = {
    organizationId,
    network: invoice.network,
    address: address.address,
    token: invoice.tokenSymbol,
  };
  const [held = null] = await holdAmounts(tx, deps, [
    {
      invoiceId,
      search: searchAmount(place, rest, tokenDecimals, invoiceId, deps.randomBytes),
      leastOf: () => least,
      startsAt: at,
      endsAt: terms.lateUntil,
    },
  ]);
  return held;
}
