import type { Id } from "../../../kernel/id.ts";
import {
  noShare,
  quoteFor,
  tokensOf,
  worthOf,
  type Quote,
  type Share,
} from "../../invoices/options/quotes.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { ChangedTransfers } from "./transfer-rules.ts";
import type { Match } from "./types.ts";
import type { WaitingReason } from "../inbox/status.ts";
import { firstStatus, isCounted, plusPayment, shareOfPayments } from "./payment-rules.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";

type AskingTerms = Pick<
  PayableTerms,
  | "payableAmount"
  | "dueAmount"
  | "tolerance"
  | "rounding"
  | "remainingAmount"
  | "network"
  | "tokenSymbol"
>;

/**
 * Returns true if an invoice of which a share is paid still asks for an amount in the token of one of its quotes: it is
 * not fully paid, and the amount is at most the missing part, or equals the amount that a hold reserves for the missing
 * part.
 */
export function asksFor(terms: AskingTerms, share: Share, quote: Quote, amount: bigint): boolean {
  if (tokensOf(share, terms) >= terms.dueAmount) return false;
  const { payableAmount, network, tokenSymbol } = quote;
  const seen = worthOf(share, payableAmount);
  const isInForce = network === terms.network && tokenSymbol === terms.tokenSymbol;
  const remaining = isInForce
    ? terms.remainingAmount
    : quote.remainingAfter === seen
      ? quote.remainingAmount
      : null;
  return amount <= payableAmount - seen || amount === remaining;
}

/** The proposed matches of transfers, decided. */
export interface DecidedMatches {
  /** The matches that become payments. */
  readonly matches: ReadonlyMap<Id<"transfer">, Match>;
  /** Why the others wait for the merchant. */
  readonly withheld: ReadonlyMap<Id<"transfer">, WaitingReason>;
}

/**
 * Decides on matches in the order of the chain, so that the first of two equal transfers pays. `ownMoney` holds the
 * transfers that the organization of their invoice sent from a wallet of its own: they are not payments of a customer, so the merchant
 * decides. On a shared address, an amount identifies an invoice only while the invoice still asks for it: afterwards it
 * may be a stranger's payment of a round amount (docs/decisions/0019), so the merchant decides. The same holds for a
 * recycled amount, which may be a late payment of an earlier invoice (0022). An exclusive address takes any amount of
 * a token for which the invoice has a rate, unless an earlier invoice had it and may still be paid (0059); another token
 * never pays. `payments` holds the payments of all invoices in
 * `terms`, after the changes on the chain.
 */
export function acceptedMatches(
  { fresh, moved }: Pick<ChangedTransfers, "fresh" | "moved">,
  proposed: ReadonlyMap<Id<"transfer">, Match>,
  ownMoney: ReadonlySet<Id<"transfer">>,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
  payments: readonly PaymentRow[],
): DecidedMatches {
  const ledgers = groupBy(payments.filter(isCounted), ({ invoiceId }) => invoiceId);
  const shares = new Map<string, Share>();
  for (const [invoiceId, ledger] of ledgers) {
    const asked = terms.get(invoiceId);
    if (asked !== undefined) shares.set(invoiceId, shareOfPayments(ledger, asked));
  }
  const matches = new Map<Id<"transfer">, Match>();
  const withheld = new Map<Id<"transfer">, WaitingReason>();
  for (const transfer of [...moved, ...fresh].toSorted(byPosition)) {
    const match = proposed.get(transfer.id);
    const asked = terms.get(match?.invoiceId ?? "inv_");
    const quote = quoteFor(asked?.quotes ?? [], transfer);
    if (match === undefined || asked === undefined || quote === undefined) continue;
    const before = shares.get(match.invoiceId) ?? noShare;
    const reason = ownMoney.has(transfer.id)
      ? "own_wallet"
      : withheldReason(match, asked, before, quote, transfer.amount);
    if (reason !== null) {
      withheld.set(transfer.id, reason);
      continue;
    }
    matches.set(transfer.id, match);
    const isMoney = firstStatus(transfer.blockTime, asked) === "confirming";
    if (isMoney) shares.set(match.invoiceId, plusPayment(before, transfer, asked));
  }
  return { matches, withheld };
}

/** Returns why a match proves nothing; null if the transfer pays. */
function withheldReason(
  match: Match,
  asked: AskingTerms,
  before: Share,
  quote: Quote,
  amount: bigint,
): WaitingReason | null {
  if (match.rule === "exclusive_address") return match.doubt ?? null;
  if (match.doubt === "ambiguous_amount") return match.doubt;
  return asksFor(asked, before, quote, amount) ? (match.doubt ?? null) : "not_asked";
}

function byPosition(one: TransferRow, other: TransferRow): number {
  return one.blockHeight - other.blockHeight || one.logIndex - other.logIndex;
}
