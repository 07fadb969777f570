import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { quotesOf } from "../options/quotes.ts";
import { issuedInvoice } from "../sandbox.ts";
import { holds } from "../table.ts";
import { anyToken, type HoldMark } from "./holds.ts";

/** The terms that a payer's transaction must match before any provider is asked about it. */
export interface ClaimableTerms {
  /** The payment addresses of the invoice on the network, each with a token in which it may be paid there. */
  readonly targets: readonly {
    readonly address: Address;
    /** The token's symbol. */
    readonly token: string;
    /** The token's dust at the time of the issue; null for invoices of earlier versions. */
    readonly dust: bigint | null;
  }[];
  /** The start of the invoice's first hold on the network. */
  readonly startsAt: Instant;
  readonly mark: HoldMark;
  /** The latest block time that can pay the invoice. */
  readonly endsAt: Instant;
}

/** Returns the networks of the options that an invoice has held, each once, in the order of its options. */
export async function claimableNetworks(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<readonly string[]> {
  const invoice = await issuedInvoice(reader, invoiceId);
  if (invoice === null) return [];
  return [...new Set(quotesOf(invoice).map(({ network }) => network))];
}

/**
 * Returns null for an invoice that was not issued, or that has no hold on the network, or whose last hold there was
 * released at its end: no transaction of the network can be claimed for it.
 */
export async function claimableTerms(
  reader: Reader,
  invoiceId: Id<"invoice">,
  network: string,
): Promise<ClaimableTerms | null> {
  const [invoice, held] = await Promise.all([
    issuedInvoice(reader, invoiceId),
    reader.find(
      holds,
      "WHERE invoice_id = $1 AND network = $2 AND (released_at IS NULL OR recycled_at IS NOT NULL) ORDER BY id",
      [invoiceId, network],
    ),
  ]);
  const [first] = held;
  if (invoice === null || invoice.issuedAt === null || first === undefined) return null;
  const { markHeight, markHash, markReadAt, isMarkRecent } = first;
  const quotes = quotesOf(invoice).filter((quote) => quote.network === network);
  return {
    targets: held.flatMap(({ address, token: of }) =>
      quotes
        .filter(({ tokenSymbol }) => of === anyToken || of === tokenSymbol)
        .map(({ tokenSymbol: token, dustAmount: dust }) => ({ address, token, dust })),
    ),
    startsAt: first.startsAt,
    mark: { markHeight, markHash, markReadAt, isMarkRecent },
    endsAt: Math.max(...held.map(({ endsAt }) => endsAt)),
  };
}
