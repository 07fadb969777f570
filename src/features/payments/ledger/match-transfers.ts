import { assert } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import { findTokenByContract } from "../../../platform/chain/networks.ts";
import type { Tx } from "../../../platform/database/index.ts";
import type { ChainDiffInput, LedgerDeps } from "./types.ts";
import type { PayableTerms } from "../../invoices/index.ts";
import { addressOwners } from "../../wallets/index.ts";
import type { Match } from "./invoices-port.ts";
import { creditFault, firstStatus, isWorthless } from "./payment-rules.ts";
import { allocationsOf, insertTransfers, putOnChain, takeOffChain } from "./store.ts";
import type { TransferRow } from "../table.ts";
import { presentTransfer } from "../inbox/present-transfer.ts";
import type { TimedLog } from "./chain-diff.ts";

/** The changed transfers at their current positions on the chain. */
export interface MatchedTransfers {
  readonly fresh: readonly TransferRow[];
  readonly moved: readonly TransferRow[];
  readonly orphaned: readonly TransferRow[];
  /** The transfers whose block time only one of several providers reported. */
  readonly doubtful: ReadonlySet<Id<"transfer">>;
  /** The matches of transfers that belonged to no invoice. */
  readonly matches: ReadonlyMap<Id<"transfer">, Match>;
  /** Every invoice that one of the transfers pays. */
  readonly invoiceIds: ReadonlySet<Id<"invoice">>;
}

/**
 * Takes moved and orphaned transfers off their old positions, so that others can take these, and matches the transfers
 * that belong to no invoice yet.
 */
export async function matchTransfers(
  tx: Tx,
  deps: LedgerDeps,
  input: ChainDiffInput,
): Promise<MatchedTransfers> {
  const { difference } = input;
  const leaving = [...difference.orphaned, ...difference.moved.map(({ transfer }) => transfer)];
  const leavingIds = leaving.map(({ id }) => id);
  await takeOffChain(tx, leavingIds);
  const allocations = await allocationsOf(tx, leavingIds);
  const allocated = new Set(allocations.map(({ transferId }) => transferId));

  const fresh = difference.fresh.map((log) => newTransfer(deps.ids, input, log));
  const moved = difference.moved.map(({ transfer, log }) => relocate(transfer, log));
  const free = [...fresh, ...moved].filter(
    ({ id, invoiceId }) => invoiceId === null && !allocated.has(id),
  );
  const logs = [...difference.fresh, ...difference.moved.map(({ log }) => log)];
  const doubtful = new Set(
    [...fresh, ...moved].flatMap(({ id }, place) =>
      logs[place]?.isTimeAgreed === false ? [id] : [],
    ),
  );
  const matches = await matchFreeTransfers(tx, deps, input, free, doubtful);
  return {
    ...{ fresh, moved, doubtful },
    orphaned: difference.orphaned.map((row) => ({ ...row, status: "orphaned" })),
    matches,
    invoiceIds: new Set([
      ...allocations.map(({ invoiceId }) => invoiceId),
      ...[...matches.values()].map(({ invoiceId }) => invoiceId),
    ]),
  };
}

/** Stores transfers at their new positions, with their invoices and organizations. */
export async function saveTransfers(
  tx: Tx,
  deps: LedgerDeps,
  input: ChainDiffInput,
  placed: MatchedTransfers,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
): Promise<MatchedTransfers> {
  const { matches } = placed;
  const matched = (row: TransferRow): TransferRow => {
    const match = matches.get(row.id);
    if (match === undefined) return row;
    const asked = terms.get(match.invoiceId);
    assert(asked !== undefined, "a transfer was matched to an invoice that was not locked");
    const { organizationId, invoiceId } = match;
    const isCounted = firstStatus(row.blockTime, asked) === "confirming";
    return {
      ...row,
      organizationId,
      invoiceId,
      disposition: isCounted ? "matched" : "unmatched",
    };
  };
  const moved = placed.moved.map(matched);
  const fresh = await withOwners(tx, input, placed.fresh.map(matched));
  await putOnChain(
    tx,
    moved.map((row) => ({ row, isMatched: matches.has(row.id) })),
  );
  await insertTransfers(tx, fresh);
  announceUnmatched(tx, deps, input, fresh);
  return { ...placed, fresh, moved };
}

/**
 * Returns the transfers with times that make no payment late on the word of a single provider: without a second one,
 * the block time is capped at the deadline of the transfer's invoice.
 */
export function withoutDoubt(
  placed: MatchedTransfers,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
): MatchedTransfers {
  const { doubtful, matches } = placed;
  if (doubtful.size === 0) return placed;
  const inTime = (row: TransferRow): TransferRow => {
    const invoiceId = matches.get(row.id)?.invoiceId ?? row.invoiceId;
    const asked = invoiceId === null ? undefined : terms.get(invoiceId);
    if (!doubtful.has(row.id) || asked === undefined) return row;
    return { ...row, blockTime: Math.min(row.blockTime, asked.expiresAt) };
  };
  return { ...placed, fresh: placed.fresh.map(inTime), moved: placed.moved.map(inTime) };
}

/** Assigns transfers that no rule matched to the owners of their addresses. */
async function withOwners(
  tx: Tx,
  { network }: ChainDiffInput,
  rows: readonly TransferRow[],
): Promise<TransferRow[]> {
  const unowned = rows.filter(({ organizationId }) => organizationId === null);
  const owners = await addressOwners(
    tx,
    network.addressFamily,
    unowned.map(({ toAddress }) => toAddress),
  );
  return rows.map((row) => ({
    ...row,
    organizationId: row.organizationId ?? owners.get(row.toAddress) ?? null,
  }));
}

/** Emits an event for each transfer that no rule matched to an invoice. */
function announceUnmatched(
  tx: Tx,
  { journal }: LedgerDeps,
  { network, state, at }: ChainDiffInput,
  rows: readonly TransferRow[],
): void {
  for (const transfer of rows) {
    const { id, organizationId, invoiceId, disposition } = transfer;
    if (organizationId === null || invoiceId !== null || disposition !== "unmatched") continue;
    const { tipHeight } = state;
    const view = { transfer, network, tipHeight, payments: [], decisions: [], suggestions: [] };
    journal.record(tx, at, {
      organizationId,
      subjectType: "transfer",
      subjectId: id,
      events: { types: ["transfer.unmatched"], version: 1, data: presentTransfer(view) },
    });
  }
}

function newTransfer(ids: IdSource, input: ChainDiffInput, log: TimedLog): TransferRow {
  const token = findTokenByContract(input.network, log.contract);
  assert(
    token !== null && log.amount > 0n,
    "a transfer of a token that is not configured was read",
  );
  return {
    id: ids.next("transfer", input.at),
    network: input.network.id,
    transactionHash: log.transactionHash,
    ...placeOf(log),
    contract: log.contract,
    token: token.symbol,
    tokenDecimals: token.decimals,
    fromAddress: log.from,
    toAddress: log.to,
    amount: log.amount,
    status: "seen",
    isFinal: false,
    organizationId: null,
    invoiceId: null,
    disposition: isWorthless(token, log) ? "ignored" : "unmatched",
    createdAt: input.at,
  };
}

function relocate(transfer: TransferRow, log: TimedLog): TransferRow {
  return { ...transfer, status: "seen", ...placeOf(log) };
}

function placeOf(log: TimedLog) {
  const { logIndex, blockHeight, blockHash, blockTime } = log;
  return { logIndex, blockHeight, blockHash, blockTime };
}

async function matchFreeTransfers(
  tx: Tx,
  deps: LedgerDeps,
  input: ChainDiffInput,
  free: readonly TransferRow[],
  doubtful: ReadonlySet<Id<"transfer">>,
): Promise<Map<Id<"transfer">, Match>> {
  const candidates = free.filter((transfer) => mayPay(transfer, input));
  if (candidates.length === 0) return new Map();
  const matches = await deps.invoices.matchHolds(
    tx,
    input.network.id,
    candidates.map(({ id, token, toAddress, amount, blockTime }) => ({
      key: id,
      token,
      address: toAddress,
      amount,
      blockTime: doubtful.has(id) ? null : blockTime,
    })),
  );
  return new Map(
    candidates.flatMap(({ id }) => {
      const match = matches.get(id);
      return match === undefined ? [] : [[id, match] as const];
    }),
  );
}

/** Returns false for recorded transfers that cannot pay: worthless ones, and those of a disabled token. */
function mayPay(transfer: TransferRow, { network, state }: ChainDiffInput): boolean {
  return creditFault(transfer, network, state.disabledTokens) === null;
}
