import { assert } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import {
  findToken,
  findTokenByContract,
  type Network,
  type NetworkToken,
} from "../../../platform/chain/networks.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { TransferRow } from "../table.ts";
import type { TimedLog } from "./chain-diff.ts";
import type { ChainContext, ChainDiffInput, Match } from "./types.ts";

/** The changed transfers at their current positions on the chain, which are not stored yet. */
export interface ChangedTransfers {
  readonly fresh: readonly TransferRow[];
  readonly moved: readonly TransferRow[];
  readonly orphaned: readonly TransferRow[];
  /** The transfers whose block time only one of several providers reported. */
  readonly uncertain: ReadonlySet<Id<"transfer">>;
  /** The fresh and moved transfers that can be credited. */
  readonly creditable: ReadonlySet<Id<"transfer">>;
  /** The fresh and moved transfers that are dust now, and can be credited to an invoice that was issued with a smaller one: see `takesDust`. */
  readonly dust: ReadonlySet<Id<"transfer">>;
}

/** Returns the transfers of a difference at their current positions. */
export function changedTransfers(ids: IdSource, input: ChainDiffInput): ChangedTransfers {
  const { network, state, difference } = input;
  const fresh = difference.fresh.map((log) => ({ log, row: newTransfer(ids, input, log) }));
  const moved = difference.moved.map(({ transfer, log }) => ({
    log,
    row: moveTransfer(transfer, log),
  }));
  const arrived = [...fresh, ...moved];
  const idsWhere = (holds: (each: (typeof arrived)[number]) => boolean) =>
    new Set(arrived.filter(holds).map(({ row }) => row.id));
  return {
    fresh: fresh.map(({ row }) => row),
    moved: moved.map(({ row }) => row),
    orphaned: difference.orphaned.map((row) => ({ ...row, status: "orphaned" })),
    uncertain: idsWhere(({ log }) => !log.isTimeAgreed),
    creditable: idsWhere(({ row }) => creditFault(row, network, state.disabledTokens) === null),
    dust: idsWhere(({ row }) => {
      const isOwn = row.fromAddress === row.toAddress;
      return !isOwn && creditFault(row, network, state.disabledTokens) === "worthless";
    }),
  };
}

/** Returns true for dust and for transfers from an address to itself: recorded, but ignored and never credited. */
export function isWorthless(
  token: Pick<NetworkToken, "dust">,
  { amount, from, to }: { readonly amount: bigint; readonly from: string; readonly to: string },
): boolean {
  return amount < token.dust || from === to;
}

/**
 * Returns true if an invoice takes a transfer although it is dust by now, because the operator has raised the token's dust:
 * the invoice was issued with a smaller one, or asks for exactly this amount.
 */
export function takesDust(
  { rule }: Pick<Match, "rule">,
  { quotes, remainingAmount, network, tokenSymbol }: DustTerms,
  transfer: Pick<TransferRow, "network" | "token" | "amount">,
): boolean {
  if (rule === "exact_amount") return true;
  const dust = quoteFor(quotes, transfer)?.dustAmount ?? null;
  if (dust !== null && transfer.amount >= dust) return true;
  const isInForce = transfer.network === network && transfer.token === tokenSymbol;
  return isInForce && transfer.amount === remainingAmount;
}

type DustTerms = Pick<PayableTerms, "quotes" | "remainingAmount" | "network" | "tokenSymbol">;

/** Returns why a transfer cannot be credited; null if it can. */
export function creditFault(
  transfer: Pick<TransferRow, "token" | "amount" | "fromAddress" | "toAddress">,
  network: Network,
  disabledTokens: readonly string[],
): "worthless" | "token_disabled" | null {
  const token = findToken(network, transfer.token);
  if (token === null || disabledTokens.includes(token.symbol)) return "token_disabled";
  const { amount, fromAddress: from, toAddress: to } = transfer;
  return isWorthless(token, { amount, from, to }) ? "worthless" : null;
}

/** Returns the transfer of a log that is not on record. It belongs to no organization and no invoice yet. */
function newTransfer(ids: IdSource, { network, at }: ChainContext, log: TimedLog): TransferRow {
  const token = findTokenByContract(network, log.contract);
  assert(
    token !== null && log.amount > 0n,
    "a transfer of a token that is not configured was read",
  );
  return {
    id: ids.next("transfer", at),
    network: network.id,
    transactionHash: log.transactionHash,
    logIndex: log.logIndex,
    ...positionOf(log),
    contract: log.contract,
    token: token.symbol,
    tokenDecimals: token.decimals,
    fromAddress: log.from,
    toAddress: log.to,
    amount: log.amount,
    ordinal: log.ordinal,
    status: "seen",
    isFinal: false,
    verification: isWorthless(token, log) ? "skipped" : "open",
    organizationId: null,
    invoiceId: null,
    disposition: isWorthless(token, log) ? "ignored" : "unmatched",
    waitingReason: null,
    createdAt: at,
  };
}

/** Returns a transfer at the position of its log, possibly after it was off the chain. */
function moveTransfer(transfer: TransferRow, log: TimedLog): TransferRow {
  const isSameBlock = transfer.blockHash === log.blockHash;
  const verification =
    transfer.verification === "verified" && !isSameBlock ? "open" : transfer.verification;
  return { ...transfer, status: "seen", verification, ...positionOf(log) };
}

function positionOf({ blockHeight, blockHash, blockTime }: TimedLog) {
  return { blockHeight, blockHash, blockTime };
}
