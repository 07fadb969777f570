import type { Id } from "../../kernel/id.ts";
import type { PayableTerms } from "../invoices/index.ts";
import type { TermsOf } from "./changes.ts";
import type { Placed } from "./placement.ts";
import type { Match } from "./ports.ts";
import { firstStatus, isCounted, sumOf } from "./rules.ts";
import type { PaymentRow, TransferRow } from "./table.ts";
import { groupBy } from "./window.ts";

/**
 * Whether an invoice of which `seen` is paid still asks for an amount: it is not whole, and the amount is no more than
 * the missing part, or is the very amount that a hold tells the missing part apart by.
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
 * The matches whose invoices take the money, decided in the order of the chain, so that of two equal transfers the
 * first pays. On a shared address an amount is evidence only while the invoice still asks for it: afterwards it may as
 * well be a stranger's rounded payment (docs/decisions/0019), so it is left to the merchant, as is a recycled amount
 * that may be an earlier invoice's late money (0022). An address of its own takes any amount of the invoice's token,
 * and another token never pays. `payments`: those of all invoices in `terms`, after the changes on the chain.
 */
export function askedMatches(
  { fresh, moved, matches }: Pick<Placed, "fresh" | "moved" | "matches">,
  terms: TermsOf,
  payments: readonly PaymentRow[],
): Map<Id<"transfer">, Match> {
  const ledgers = groupBy(payments.filter(isCounted), ({ invoiceId }) => invoiceId);
  const seen = new Map([...ledgers].map(([invoiceId, ledger]) => [invoiceId, sumOf(ledger)]));
  const kept = new Map<Id<"transfer">, Match>();
  for (const transfer of [...moved, ...fresh].toSorted(byPlace)) {
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

function byPlace(one: TransferRow, other: TransferRow): number {
  return one.blockHeight - other.blockHeight || one.logIndex - other.logIndex;
}
