import type { Id } from "../../../kernel/id.ts";
import type { PayableTerms } from "../../invoices/index.ts";
import type { ChangedTransfers } from "./transfer-rules.ts";
import type { Match } from "./invoices-port.ts";
import { firstStatus, isCounted, sumOf } from "./payment-rules.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";

/**
 * Returns true if an invoice that has received `seen` still asks for an amount: it is not fully paid, and the amount is
 * at most the missing part, or equals the amount that its hold reserves for the missing part.
 */
export function asksFor(
  terms: Pick<PayableTerms, "payableAmount" | "dueAmount" | "remainingAmount">,
  seen: bigint,
  amount: bigint,
): boolean {
  if (seen >= terms.dueAmount) return false;
  return amount <= terms.payableAmount - seen || amount === terms.remainingAmount;
}

/**
 * Returns the matches that become payments, decided in the order of the chain, so that the first of two equal transfers
 * pays. On a shared address, an amount identifies an invoice only while the invoice still asks for it: afterwards it may
 * be a stranger's payment of a round amount (docs/decisions/0019), so the merchant decides. The same holds for a
 * recycled amount, which may be a late payment of an earlier invoice (0022). An exclusive address takes any amount of
 * the invoice's token; another token never pays. `payments` holds the payments of all invoices in `terms`, after the
 * changes on the chain.
 */
export function acceptedMatches(
  { fresh, moved }: Pick<ChangedTransfers, "fresh" | "moved">,
  matches: ReadonlyMap<Id<"transfer">, Match>,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
  payments: readonly PaymentRow[],
): Map<Id<"transfer">, Match> {
  const ledgers = groupBy(payments.filter(isCounted), ({ invoiceId }) => invoiceId);
  const seen = new Map([...ledgers].map(([invoiceId, ledger]) => [invoiceId, sumOf(ledger)]));
  const kept = new Map<Id<"transfer">, Match>();
  for (const transfer of [...moved, ...fresh].toSorted(byPosition)) {
    const match = matches.get(transfer.id);
    const asked = terms.get(match?.invoiceId ?? "inv_");
    if (match === undefined || asked?.tokenSymbol !== transfer.token) continue;
    if (match.isAmbiguous === true) continue;
    const before = seen.get(match.invoiceId) ?? 0n;
    const isOwn = match.rule === "exclusive_address";
    if (!isOwn && !asksFor(asked, before, transfer.amount)) continue;
    kept.set(transfer.id, match);
    const isMoney = firstStatus(transfer.blockTime, asked) === "confirming";
    if (isMoney) seen.set(match.invoiceId, before + transfer.amount);
  }
  return kept;
}

function byPosition(one: TransferRow, other: TransferRow): number {
  return one.blockHeight - other.blockHeight || one.logIndex - other.logIndex;
}
