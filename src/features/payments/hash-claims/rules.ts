import { hour, minute, second, type Instant } from "../../../kernel/clock.ts";
import type { Receipt, TransferLog } from "../../../platform/chain/client.ts";
import { findTokenByContract, type Network } from "../../../platform/chain/networks.ts";
import type { ClaimableTerms } from "../../invoices/holds/claimable.ts";
import { refusalResults, type ClaimReason, type ClaimResult, type ClaimState } from "./status.ts";
import type { ClaimRow, PaymentRow, TransferRow } from "../table.ts";
import { isSameTransfer, type TimedLog } from "../ledger/chain-diff.ts";
import { isCounted, takenOf } from "../ledger/payment-rules.ts";

const retryFirstMs = 3 * second;
const retryMostMs = 30 * minute;

/** How long the search for a transaction that no provider knows continues. */
const unknownMs = hour;

/** The largest number of hash claims of an invoice that wait for the chain or for the merchant. */
export const openMax = 5;

/** Returns when an undecided claim is retried: exponential backoff from 3 seconds to 30 minutes. */
export function retryAt(attempts: number, at: Instant): Instant {
  return at + Math.min(retryMostMs, retryFirstMs * 2 ** Math.min(attempts, 20));
}

/** Returns when a claim for a transaction that no provider knows is given up. */
export function givenUpAt(claim: Pick<ClaimRow, "createdAt">): Instant {
  return claim.createdAt + unknownMs;
}

/** Returns the transfers of a receipt that may pay the invoice, judged by the receipt alone, or why no transfer can. */
export function claimedLogs(
  receipt: Receipt,
  terms: ClaimableTerms,
  network: Network,
  disabledTokens: readonly string[],
): readonly TransferLog[] | ClaimReason {
  if (!receipt.succeeded) return "failed_transaction";
  const { targets } = terms;
  const ours = receipt.transfers.filter(
    ({ to, amount }) => amount > 0n && targets.some(({ address }) => address === to),
  );
  if (ours.length === 0) return "other_address";
  const inToken = ours.flatMap((log) => {
    const token = findTokenByContract(network, log.contract);
    const target = targets.find(
      ({ address, token: symbol }) => address === log.to && symbol === token?.symbol,
    );
    return token === null || target === undefined ? [] : [{ log, token, dust: target.dust }];
  });
  if (inToken.length === 0) return "other_token";
  const enabled = inToken.filter(({ token }) => !disabledTokens.includes(token.symbol));
  if (enabled.length === 0) return "token_disabled";
  const fromOthers = enabled.filter(({ log: { from, to } }) => from !== to);
  if (fromOthers.length === 0) return "own_transfer";
  // The operator may have raised the dust since the issue.
  const worth = fromOthers.filter(
    ({ log, token, dust }) => log.amount >= token.dust || (dust !== null && log.amount >= dust),
  );
  return worth.length === 0 ? "dust" : worth.map(({ log }) => log);
}

/**
 * Returns why a transfer cannot pay the invoice; null if it can. It was made before the invoice if it was recorded before the
 * invoice's first hold, or if its block is at or below the mark of this hold, and the chain has the mark: it is among
 * `marks`. A time before the invoice proves nothing (docs/decisions/0066).
 */
export function orderFault(
  { blockTime, blockHeight }: Pick<TimedLog, "blockTime" | "blockHeight">,
  recordedAt: Instant | null,
  { startsAt, mark: { markHeight, markHash }, endsAt }: ClaimableTerms,
  marks: readonly string[],
): ClaimReason | null {
  const isBelow = markHeight !== null && markHash !== null && blockHeight <= markHeight;
  if (isBelow && marks.includes(markHash)) return "before_invoice";
  if (recordedAt !== null && recordedAt < startsAt) return "before_invoice";
  return blockTime > endsAt ? "after_hold" : null;
}

/** The transfers of a claim compared with the stored transfers. */
interface StoredTransfers {
  readonly known: readonly { readonly transfer: TransferRow; readonly log: TimedLog }[];
  /** Unrecorded transfers in final blocks: the watcher read those while the address was not watched. */
  readonly missing: readonly TimedLog[];
  /** True if the watcher has yet to reach some transfers, or to follow them through a reorganization. */
  readonly isPending: boolean;
}

export function compareWithRecord(
  stored: readonly TransferRow[],
  logs: readonly TimedLog[],
  cursorHeight: number,
): StoredTransfers {
  const known: { transfer: TransferRow; log: TimedLog }[] = [];
  const missing: TimedLog[] = [];
  let isPending = false;
  for (const log of logs) {
    const transfer = stored.find((row) => isAt(row, log));
    if (transfer !== undefined) known.push({ transfer, log });
    else if (log.blockHeight > cursorHeight || stored.some((row) => isSameTransfer(row, log))) {
      isPending = true;
    } else missing.push(log);
  }
  return { known, missing, isPending };
}

function isAt(row: TransferRow, log: TransferLog): boolean {
  return row.status === "seen" && row.blockHash === log.blockHash && isSameTransfer(row, log);
}

/** The relation of a transfer to the invoice of a hash claim. */
export type TransferRelation = "credited" | "review" | "taken" | "rejected" | "free";

/** Returns the relation of a transfer with these payments, of any invoice. */
export function relationOf(
  claim: Pick<ClaimRow, "invoiceId" | "organizationId">,
  transfer: Pick<TransferRow, "invoiceId" | "organizationId">,
  payments: readonly PaymentRow[],
): TransferRelation {
  const own = payments.filter(({ invoiceId }) => invoiceId === claim.invoiceId);
  const live = own.find(({ status }) => status !== "rejected");
  if (live !== undefined) return isCounted(live) ? "credited" : "review";
  if (transfer.invoiceId !== null || takenOf(payments) > 0n) return "taken";
  // The address may have passed to another merchant, who owns the money and alone decides about it.
  const { organizationId } = transfer;
  if (organizationId !== null && organizationId !== claim.organizationId) return "taken";
  return own.length > 0 ? "rejected" : "free";
}

/** The result of a hash claim. */
export interface ClaimOutcome {
  readonly state: Exclude<ClaimState, "waiting">;
  readonly reason: ClaimReason | null;
}

/** Returns the result of a claim whose transfers have these relations. Free transfers become payments in review. */
export function outcomeOf(relations: readonly TransferRelation[]): ClaimOutcome {
  if (relations.includes("free")) return { state: "review", reason: null };
  for (const good of ["credited", "review"] as const) {
    if (relations.includes(good)) return { state: good, reason: null };
  }
  return { state: "refused", reason: relations.includes("taken") ? "taken" : "rejected" };
}

/** Returns the result of a claim. `found` holds the invoice's payments by the transaction, whose status may have changed since the claim was closed. */
export function resultOf(
  state: ClaimState,
  reason: ClaimReason | null,
  found: readonly Pick<PaymentRow, "status">[],
): ClaimResult {
  switch (state) {
    case "waiting":
      return reason === "unknown" ? "unknown" : "looking";
    case "credited":
    case "review":
      if (found.some(isCounted)) return "counted";
      if (found.some(({ status }) => status === "review")) return "in_review";
      return found.some(({ status }) => status === "reverted") ? "reverted" : "not_for_this";
    case "refused":
      return reason === null ? "not_for_this" : refusalResults[reason];
  }
}
