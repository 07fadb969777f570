import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { quoteFor, paidShare } from "../../invoices/options/quotes.ts";
import { matchHolds, type ChainEvidence } from "../../invoices/holds/matching.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import { writePayments } from "../ledger/write-payments.ts";
import { asksFor } from "../ledger/match-transfers.ts";
import {
  compareWithRecord,
  outcomeOf,
  relationOf,
  type ClaimOutcome,
  type TransferRelation,
} from "./rules.ts";
import { lockTransaction, paymentsOfTransfer, requireVerification } from "./store.ts";
import type { ChainContext, PaymentChange } from "../ledger/types.ts";
import { applyChainDiff } from "../ledger/apply-chain-diff.ts";
import { openPayment } from "../ledger/payment-rules.ts";
import { finalizeTransfers, lockPayments } from "../ledger/store.ts";
import type { ClaimRow, TransferRow } from "../table.ts";
import type { TimedLog } from "../ledger/chain-diff.ts";

/** The transfers of a receipt that may pay an invoice. */
export interface ClaimedTransfers {
  readonly logs: readonly TimedLog[];
  /** The hashes of holds' marks, at or above the transfers, that the chain has. */
  readonly marks: readonly string[];
}

/**
 * Enters the transfers of a hash claim that are not on record, or on record without an invoice, so that the ordinary
 * matching rules apply. Leaves transfers to the watcher that it has not reached yet.
 */
export async function recordClaimedTransfers(
  tx: Tx,
  app: InTx,
  at: Instant,
  network: Network,
  claim: ClaimRow,
  { logs, marks }: ClaimedTransfers,
): Promise<void> {
  const state = await networkState(tx, network.id);
  assert(state !== null, "a payment was claimed on a network that was never read");
  const stored = await lockTransaction(tx, network.id, claim.transactionHash);
  const recorded = compareWithRecord(stored, logs, state.cursorHeight);
  if (recorded.isPending) return;
  const moved: { transfer: TransferRow; log: TimedLog }[] = [];
  for (const pair of recorded.known) {
    const { id, invoiceId } = pair.transfer;
    if (invoiceId !== null || (await paymentsOfTransfer(tx, id)).length > 0) continue;
    moved.push(pair);
  }
  const fresh = recorded.missing;
  if (moved.length === 0 && fresh.length === 0) return;
  const difference = { fresh, moved, orphaned: [], contradicting: [] };
  await applyChainDiff(tx, app, { network, state, difference, verified: [], marks, at });
  await finalizeTransfers(tx, network.id, state.cursorHeight);
}

/**
 * Decides on a hash claim whose transfers were entered: transfers that no rule matched become payments in review.
 * Returns null if the chain has to progress first.
 */
export async function decideClaim(
  tx: Tx,
  app: InTx,
  at: Instant,
  network: Network,
  claim: ClaimRow,
  { logs, marks }: ClaimedTransfers,
): Promise<ClaimOutcome | null> {
  const state = await networkState(tx, network.id);
  assert(state !== null, "a payment was claimed on a network that was never read");
  const stored = await lockTransaction(tx, network.id, claim.transactionHash);
  const { known, missing, isPending } = compareWithRecord(stored, logs, state.cursorHeight);
  if (isPending || missing.length > 0) return null;
  const transfers = known.map(({ transfer }) => transfer);

  const relations: TransferRelation[] = [];
  const toReview: TransferRow[] = [];
  const chain = { tipHeight: state.tipHeight, hashes: marks };
  const elsewhere = await exactlyHeldByOthers(tx, network, claim, transfers, chain);
  for (const transfer of transfers) {
    const relation = elsewhere.has(transfer.id)
      ? "taken"
      : relationOf(claim, transfer, await paymentsOfTransfer(tx, transfer.id));
    relations.push(relation);
    if (relation === "free") toReview.push(transfer);
  }
  if (toReview.length > 0) {
    await openReviews(tx, app, { network, state, at }, claim, toReview);
  }
  return outcomeOf(relations);
}

/**
 * Returns the transfers that exactly match another invoice's hold while that invoice still asks for the amount. Locks
 * those invoices and the claim's own, in the order of their ids.
 */
async function exactlyHeldByOthers(
  tx: Tx,
  network: Network,
  claim: ClaimRow,
  transfers: readonly TransferRow[],
  chain: ChainEvidence,
): Promise<ReadonlySet<Id<"transfer">>> {
  const matches = await matchHolds(
    tx,
    network,
    transfers.map(({ id, token, toAddress, amount, blockTime, blockHeight, createdAt }) => ({
      key: id,
      token,
      address: toAddress,
      amount,
      blockTime,
      blockHeight,
      recordedAt: createdAt,
    })),
    chain,
  );
  const others = transfers.flatMap((transfer) => {
    const match = matches.get(transfer.id);
    if (match === undefined || match.rule === "within_tolerance") return [];
    if (match.objection !== undefined) return [];
    return match.invoiceId === claim.invoiceId ? [] : [{ transfer, match }];
  });
  if (others.length === 0) return new Set();
  const terms = await lockTerms(tx, [
    ...new Set([claim.invoiceId, ...others.map(({ match }) => match.invoiceId)]),
  ]);
  const held = others.filter(({ transfer, match }) => {
    const asked = terms.get(match.invoiceId);
    const quote = quoteFor(asked?.quotes ?? [], transfer);
    if (asked === undefined || quote === undefined) return false;
    if (match.rule === "exclusive_address") return true;
    return asksFor(asked, paidShare(asked.quotes), quote, transfer.amount);
  });
  return new Set(held.map(({ transfer }) => transfer.id));
}

/** Opens payments in review: they reserve and count nothing until the merchant accepts them. */
async function openReviews(
  tx: Tx,
  app: InTx,
  context: ChainContext,
  claim: ClaimRow,
  transfers: readonly TransferRow[],
): Promise<void> {
  const { invoiceId, organizationId } = claim;
  const terms = await lockTerms(tx, [invoiceId]);
  const asked = terms.get(invoiceId);
  assert(asked !== undefined, "a payment was claimed for a draft");
  const stored = await lockPayments(tx, [invoiceId]);
  await requireVerification(
    tx,
    transfers.map(({ id }) => id),
  );
  const opened = transfers.map((transfer): PaymentChange => {
    const payment = openPayment({
      id: app.ids.next("payment", context.at),
      transfer,
      match: { invoiceId, organizationId, rule: "submitted_hash" },
      terms: asked,
      source: "submitted",
      at: context.at,
    });
    return { before: null, after: { ...payment, status: "review" } };
  });
  await writePayments(
    tx,
    app,
    context,
    terms,
    [...stored.map((payment) => ({ before: payment, after: payment })), ...opened],
    new Map(transfers.map((transfer) => [transfer.id, transfer])),
  );
}
