import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Reader } from "../../platform/database/index.ts";
import { issuedInvoice } from "./sandbox.ts";
import { holds } from "./table.ts";

/** What a payer's transaction must fit, before anybody is asked about it. */
export interface ClaimableTerms {
  /** Where the invoice is paid. */
  readonly address: Address;
  /** The token's symbol. */
  readonly token: string;
  readonly issuedAt: Instant;
  /** Until when a block may pay the invoice. */
  readonly endsAt: Instant;
}

/** Null for an invoice that was not issued, or whose last hold has ended: nothing can be claimed for it any more. */
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
