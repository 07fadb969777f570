import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Reader } from "../../../platform/database/index.ts";
import { issuedInvoice } from "../sandbox.ts";
import { holds } from "../table.ts";

/** The terms that a payer's transaction must match before any provider is asked about it. */
export interface ClaimableTerms {
  /** The payment address of the invoice. */
  readonly address: Address;
  /** The token's symbol. */
  readonly token: string;
  readonly issuedAt: Instant;
  /** The latest block time that can pay the invoice. */
  readonly endsAt: Instant;
}

/**
 * Returns null for an invoice that was not issued, or whose last hold was released at its end: no transaction can be
 * claimed for it any longer.
 */
export async function claimableTerms(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<ClaimableTerms | null> {
  const [invoice, held] = await Promise.all([
    issuedInvoice(reader, invoiceId),
    reader.find(
      holds,
      "WHERE invoice_id = $1 AND (released_at IS NULL OR recycled_at IS NOT NULL) ORDER BY id",
      [invoiceId],
    ),
  ]);
  const [first] = held;
  if (invoice === null || invoice.issuedAt === null || first === undefined) return null;
  return {
    address: first.address,
    token: invoice.tokenSymbol,
    issuedAt: invoice.issuedAt,
    endsAt: Math.max(...held.map(({ endsAt }) => endsAt)),
  };
}
