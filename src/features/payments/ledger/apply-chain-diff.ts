import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/index.ts";
import { askedMatches } from "./asked.ts";
import { writeChanges, type Change, type TermsOf } from "./write-payments.ts";
import type { ChainDiffInput, LedgerDeps } from "./types.ts";
import {
  matchTransfers,
  withoutDoubt,
  saveTransfers,
  type MatchedTransfers,
} from "./match-transfers.ts";
import { confirmPayment, movePayment, openPayment, revertPayment } from "./payment-rules.ts";
import { lockPayments } from "./store.ts";
import type { PaymentRow, TransferRow } from "../table.ts";

/**
 * Stores changes on the chain and their effects on payments and invoices, in the caller's transaction and with a fixed
 * number of statements. Locks rows in the order transfers, invoices, payments. Returns true if payments reached their
 * required confirmations, so that their receipts can be read immediately.
 */
export async function applyChainDiff(
  tx: Tx,
  deps: LedgerDeps,
  input: ChainDiffInput,
): Promise<boolean> {
  const places = await matchTransfers(tx, deps, input);
  const invoiceIds = new Set([
    ...places.invoiceIds,
    ...input.verified.map(({ payment }) => payment.invoiceId),
  ]);
  const inOrder = [...invoiceIds].sort();
  const locked: TermsOf =
    inOrder.length === 0 ? new Map() : await deps.invoices.lockTerms(tx, inOrder);
  const terms = await withLatePolicies(tx, deps, places, locked);
  const found = withoutDoubt(places, terms);
  const stored = await lockPayments(tx, inOrder);
  const followed = followPayments(stored, found, input);
  const asked = askedMatches(
    found,
    terms,
    followed.map(({ after }) => after),
  );
  const placed = await saveTransfers(tx, deps, input, { ...found, matches: asked }, terms);
  if (inOrder.length === 0) return false;

  const opened = openPayments(deps, placed, terms, input);
  const changes = await writeChanges(
    tx,
    deps,
    input,
    terms,
    [...followed, ...opened],
    transfersIn(placed),
  );
  return changes.some(({ after }) => isMature(after, input.state.tipHeight));
}

/** Applies the organizations' late-payment policies; reads them only if late transfers arrived. */
async function withLatePolicies(
  tx: Tx,
  { invoices }: LedgerDeps,
  { fresh, moved, matches }: MatchedTransfers,
  terms: TermsOf,
): Promise<TermsOf> {
  const late = [...fresh, ...moved].flatMap(({ id, blockTime }) => {
    const asked = terms.get(matches.get(id)?.invoiceId ?? "inv_");
    return asked !== undefined && blockTime > asked.expiresAt ? [asked.organizationId] : [];
  });
  if (late.length === 0) return terms;
  const reviewers = await invoices.lateReviewers(tx, late);
  return new Map(
    [...terms].map(([id, asked]) => {
      const latePolicy = reviewers.has(asked.organizationId) ? "review" : asked.latePolicy;
      return [id, { ...asked, latePolicy }];
    }),
  );
}

function isMature(payment: PaymentRow, tipHeight: number): boolean {
  return payment.status === "confirming" && payment.confirmsAtHeight <= tipHeight;
}

/** Returns the stored payments as the changes on the chain leave them. */
function followPayments(
  stored: readonly PaymentRow[],
  placed: MatchedTransfers,
  input: ChainDiffInput,
): Change[] {
  const transfers = transfersIn(placed);
  const verified = new Map(input.verified.map(({ payment }) => [payment.id, payment.blockHash]));
  return stored.map((before) => {
    const transfer = transfers.get(before.transferId);
    if (transfer !== undefined) {
      const isOnChain = transfer.status === "seen";
      return { before, after: isOnChain ? movePayment(before, transfer) : revertPayment(before) };
    }
    // The payment may have changed since its receipt was read.
    const mayConfirm =
      isMature(before, input.state.tipHeight) && verified.get(before.id) === before.blockHash;
    return { before, after: mayConfirm ? confirmPayment(before, input.at) : before };
  });
}

function openPayments(
  deps: LedgerDeps,
  placed: MatchedTransfers,
  terms: TermsOf,
  input: ChainDiffInput,
): Change[] {
  const transfers = transfersIn(placed);
  return [...placed.matches].map(([transferId, match]) => {
    const transfer = transfers.get(transferId);
    const asked = terms.get(match.invoiceId);
    assert(
      transfer !== undefined && asked !== undefined,
      "a match names an unknown transfer or invoice",
    );
    const { at } = input;
    const id = deps.ids.next("payment", at);
    const after = openPayment({ id, transfer, match, terms: asked, source: "detected", at });
    return { before: null, after };
  });
}

function transfersIn({
  fresh,
  moved,
  orphaned,
}: MatchedTransfers): Map<Id<"transfer">, TransferRow> {
  return new Map([...fresh, ...moved, ...orphaned].map((row) => [row.id, row]));
}
