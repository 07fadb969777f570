import type { z } from "zod";
import { tokenAsset } from "../../../kernel/money/asset.ts";
import { toIso, toIsoOrNull } from "../../../kernel/clock.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import type { Notation } from "../../../platform/chain/networks.ts";
import { confirmationsOf } from "../../../platform/chain/state/network-state.ts";
import { resultOf } from "../hash-claims/result.ts";
import { isVerified, takenOf } from "../ledger/payment-rules.ts";
import type { Suggestion } from "./suggestions.ts";
import type { ClaimRow, DecisionRow, PaymentRow, TransferRow } from "../table.ts";
import type { TransferRecord } from "./records.ts";
import type { TransferStanding, WaitingReason } from "./status.ts";

/** A transfer with the data needed to present it. */
export interface TransferView {
  readonly transfer: TransferRow;
  readonly notation: Notation;
  /** The newest scanned block of the network. */
  readonly tipHeight: number;
  /** Every payment of the transfer, of any organization. */
  readonly payments: readonly PaymentRow[];
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
  /** Best first. */
  readonly suggestions: readonly Suggestion[];
}

/** A hash claim with the data needed to present it. */
export interface ClaimView {
  readonly claim: ClaimRow;
  readonly notation: Notation;
  /** The payments of its invoice by its transaction. */
  readonly payments: readonly PaymentRow[];
}

export function dispositionOfTransfer({ status, disposition }: TransferRow): TransferStanding {
  return status === "orphaned" ? "reverted" : disposition;
}

/** Returns why a transfer waits; null if it does not, or if a part of it is allocated: then the merchant left the rest. */
function waitingReasonOf({ transfer, payments }: TransferView): WaitingReason | null {
  const waits = dispositionOfTransfer(transfer) === "unmatched" && takenOf(payments) === 0n;
  return waits ? transfer.waitingReason : null;
}

/** Returns the transfer as the API and events show it, without data of other organizations. */
export function presentTransfer(view: TransferView): z.input<typeof TransferRecord> {
  const { transfer, notation, tipHeight, suggestions } = view;
  const asset = tokenAsset(transfer.token, transfer.tokenDecimals);
  const tokens = (units: bigint) => formatMoney(money(units, asset));
  const isOwn = (row: PaymentRow | DecisionRow) => row.organizationId === transfer.organizationId;
  return {
    id: transfer.id,
    network: transfer.network,
    tokenSymbol: transfer.token,
    transactionHash: notation.formatTransactionHash(transfer.transactionHash),
    logIndex: transfer.logIndex,
    fromAddress: notation.formatAddress(transfer.fromAddress),
    toAddress: notation.formatAddress(transfer.toAddress),
    amount: tokens(transfer.amount),
    unallocatedAmount: tokens(transfer.amount - takenOf(view.payments)),
    blockNumber: transfer.blockHeight,
    blockTime: toIso(transfer.blockTime),
    confirmations:
      transfer.status === "seen" ? confirmationsOf(tipHeight, transfer.blockHeight) : 0,
    isVerified:
      transfer.verification === "verified" ||
      view.payments.some((payment) => isVerified(payment, transfer)),
    status: dispositionOfTransfer(transfer),
    waitingReason: waitingReasonOf(view),
    allocations: view.payments.filter(isOwn).map((payment) => ({
      paymentId: payment.id,
      invoiceId: payment.invoiceId,
      amount: tokens(payment.amount),
      status: payment.status,
      rule: payment.rule,
      source: payment.source,
      createdAt: toIso(payment.createdAt),
    })),
    suggestions: suggestions.map(({ invoice, amount, reasons }) => ({
      invoiceId: invoice.id,
      publicId: invoice.publicId,
      externalId: invoice.externalId,
      invoiceStatus: invoice.status,
      amount: tokens(amount),
      remainingAmount: tokens(invoice.remainingAmount ?? 0n),
      reasons: [...reasons],
    })),
    decisions: view.decisions.filter(isOwn).map((decision) => ({
      decision: decision.decision,
      paymentId: decision.paymentId,
      invoiceId: decision.invoiceId,
      amount: tokens(decision.amount),
      actorType: decision.actorType,
      actorId: decision.actorId,
      actorLabel: decision.actorLabel,
      createdAt: toIso(decision.createdAt),
    })),
    createdAt: toIso(transfer.createdAt),
  };
}

/** Returns a hash claim for the operator only: its reason may reveal other invoices. */
export function presentClaim({ claim, notation, payments }: ClaimView) {
  return {
    id: claim.id,
    invoiceId: claim.invoiceId,
    network: claim.network,
    transactionHash: notation.formatTransactionHash(claim.transactionHash),
    state: claim.state,
    reason: claim.reason,
    result: resultOf(claim.state, claim.reason, payments),
    attempts: claim.attempts,
    createdAt: toIso(claim.createdAt),
    closedAt: toIsoOrNull(claim.closedAt),
  };
}
