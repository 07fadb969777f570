import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import { findToken } from "../../../platform/chain/networks.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { searchAmount } from "../holds/amount-search.ts";
import { payablePrice } from "../holds/amounts.ts";
import { askableRest } from "../options/quotes.ts";
import { dueAmount } from "../rules.ts";
import { holdAmounts, marksOf, shareAmount } from "../holds/holds.ts";
import { payableTerms } from "./terms-to-pay.ts";
import type { InvoiceRow } from "../store.ts";

/**
 * Returns the amount that the payer still has to send: the rest, rounded up to the decimals of the token's amounts, but at
 * least the token's dust, because a smaller transfer would be ignored. After a partial payment at a shared address, it
 * must be distinguishable from other amounts too, so it is held like a price.
 */
export async function remainingAmount(
  tx: Tx,
  app: InTx,
  at: Instant,
  before: InvoiceRow,
  after: InvoiceRow,
): Promise<bigint | null> {
  const { payableAmount, seenAmount } = after;
  if (payableAmount === null) return null;
  switch (after.status) {
    case "paid":
    case "confirming":
    case "canceled":
      return 0n;
    /* c8 ignore next: a draft has no payments. */
    case "draft":
    case "open":
      return payableAmount;
    case "expired":
    case "partially_paid": {
      const network = app.networks.known.get(after.network);
      const token = network === undefined ? null : findToken(network, after.tokenSymbol);
      // The dust of the issue decides, also about the transfer of the rest; invoices of earlier versions may have none.
      const dust = after.dustAmount ?? token?.dust ?? 0n;
      const { remainingAmount: known } = before;
      const isKnown = before.seenAmount === seenAmount && known !== 0n && known !== null;
      if (isKnown && known >= dust) return known;
      const least = askableRest(payableAmount - seenAmount, dust);
      const rest = token === null ? least : payablePrice(least, token, true);
      if (after.status === "expired" || after.addressIndex !== null) return rest;
      return holdRest(tx, app, after, rest, at);
    }
  }
}

/**
 * Holds the unpaid rest of a price on a shared address, and returns what is asked for: the bare rest too if no amount can
 * be held for it. Then only the merchant can match its payment.
 */
async function holdRest(
  tx: Tx,
  app: InTx,
  invoice: InvoiceRow,
  rest: bigint,
  at: Instant,
): Promise<bigint> {
  const terms = payableTerms(invoice);
  const network = app.networks.known.get(invoice.network);
  if (terms === null || network === undefined || invoice.walletAddress === null) return rest;
  const token = findToken(network, invoice.tokenSymbol);
  const address = network.kind.parseAddress(invoice.walletAddress);
  if (token === null || !address.ok) return rest;
  // A payment is matched within the merchant's tolerance only: what is rounded is a rule of what is credited already.
  const least = dueAmount(terms.payableAmount, terms.tolerance) - invoice.seenAmount;
  const { id: invoiceId, organizationId, enteredAtLink } = invoice;
  const target = {
    organizationId,
    network: invoice.network,
    address: address.address,
    token: invoice.tokenSymbol,
  };
  const invoiceIds = [invoiceId];
  const marks = await marksOf(tx, network, { invoiceIds, heldBefore: invoiceIds }, at);
  const mark = marks.get(invoiceId);
  assert(mark !== undefined, "a hold has no mark");
  const request = {
    invoiceId,
    mark,
    search: searchAmount(
      target,
      rest,
      token,
      { holder: invoiceId, enteredAtLink },
      app.randomBytes,
    ),
    leastOf: () => least,
    startsAt: at,
    endsAt: terms.lateUntil,
  };
  const [held = null] = await holdAmounts(tx, app, [request]);
  if (held === null) shareAmount(tx, app, request, rest);
  return held ?? rest;
}
