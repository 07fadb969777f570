import { settlementOf } from "../options/quotes.ts";
import type { InvoiceRow } from "../store.ts";

/** The payments received for an invoice, in the smallest unit of its settlement currency. */
export interface Received {
  /** On the chain, whether confirmed or not. */
  readonly seen: bigint;
  readonly confirmed: bigint;
}

export function receivedBy(row: InvoiceRow): Received {
  const worth = (tokens: bigint) => settlementOf(tokens, row);
  return { seen: worth(row.seenAmount), confirmed: worth(row.confirmedAmount) };
}
