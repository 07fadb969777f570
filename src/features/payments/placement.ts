import { assert } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { findToken, findTokenByContract } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Entry, LedgerDeps } from "./entry.ts";
import type { PayableTerms } from "../invoices/index.ts";
import type { Match } from "./ports.ts";
import { allocationsOf, insertTransfers, putOnChain, takeOffChain } from "./store.ts";
import type { TransferRow } from "./table.ts";
import type { TimedLog } from "./window.ts";

/** The transfers that changed, at the places that the chain has them at now. */
export interface Placed {
  readonly fresh: readonly TransferRow[];
  readonly moved: readonly TransferRow[];
  readonly orphaned: readonly TransferRow[];
  /** Whose those are that were nobody's. */
  readonly matches: ReadonlyMap<Id<"transfer">, Match>;
  /** Every invoice that one of them pays. */
  readonly invoiceIds: ReadonlySet<Id<"invoice">>;
}

/**
 * Takes what moved and what is gone off its old place, so that others may come to it, and finds whose the transfers
 * are that are nobody's yet.
 */
export async function findPlaces(tx: Tx, deps: LedgerDeps, entry: Entry): Promise<Placed> {
  const { difference } = entry;
  const leaving = [...difference.orphaned, ...difference.moved.map(({ transfer }) => transfer)];
  const leavingIds = leaving.map(({ id }) => id);
  await takeOffChain(tx, leavingIds);
  const allocations = await allocationsOf(tx, leavingIds);
  const allocated = new Set(allocations.map(({ transferId }) => transferId));

  const fresh = difference.fresh.map((log) => newTransfer(deps.ids, entry, log));
  const moved = difference.moved.map(({ transfer, log }) => relocate(transfer, log));
  const free = [...fresh, ...moved].filter(
    ({ id, invoiceId }) => invoiceId === null && !allocated.has(id),
  );
  const matches = await matchTransfers(tx, deps, entry, free);
  return {
    fresh,
    moved,
    orphaned: difference.orphaned.map((row) => ({ ...row, status: "orphaned" })),
    matches,
    invoiceIds: new Set([
      ...allocations.map(({ invoiceId }) => invoiceId),
      ...[...matches.values()].map(({ invoiceId }) => invoiceId),
    ]),
  };
}

/**
 * Writes transfers at their new places. An address of an invoice's own may be sent any token; only the one that the
 * invoice asks for pays for it, and another stays nobody's.
 */
export async function writePlaces(
  tx: Tx,
  placed: Placed,
  terms: ReadonlyMap<Id<"invoice">, PayableTerms>,
): Promise<Placed> {
  const matches = new Map(placed.matches);
  const owned = (row: TransferRow): TransferRow => {
    const match = matches.get(row.id);
    if (match === undefined) return row;
    if (terms.get(match.invoiceId)?.tokenSymbol !== row.token) {
      matches.delete(row.id);
      return row;
    }
    return { ...row, organizationId: match.organizationId, invoiceId: match.invoiceId };
  };
  const fresh = placed.fresh.map(owned);
  const moved = placed.moved.map(owned);
  await putOnChain(tx, moved);
  await insertTransfers(tx, fresh);
  return { ...placed, fresh, moved, matches };
}

function newTransfer(ids: IdSource, entry: Entry, log: TimedLog): TransferRow {
  const token = findTokenByContract(entry.network, log.contract);
  assert(token !== null && log.amount > 0n, "a transfer of no configured token was read");
  return {
    id: ids.next("transfer", entry.at),
    network: entry.network.id,
    transactionHash: log.transactionHash,
    ...placeOf(log),
    contract: log.contract,
    token: token.symbol,
    fromAddress: log.from,
    toAddress: log.to,
    amount: log.amount,
    status: "seen",
    isFinal: false,
    organizationId: null,
    invoiceId: null,
    createdAt: entry.at,
  };
}

function relocate(transfer: TransferRow, log: TimedLog): TransferRow {
  return { ...transfer, status: "seen", ...placeOf(log) };
}

function placeOf(log: TimedLog) {
  const { logIndex, blockHeight, blockHash, blockTime } = log;
  return { logIndex, blockHeight, blockHash, blockTime };
}

async function matchTransfers(
  tx: Tx,
  deps: LedgerDeps,
  entry: Entry,
  free: readonly TransferRow[],
): Promise<Map<Id<"transfer">, Match>> {
  const candidates = free.filter((transfer) => mayPay(transfer, entry));
  if (candidates.length === 0) return new Map();
  const matches = await deps.invoices.matchHolds(
    tx,
    entry.network.id,
    candidates.map(({ id, token, toAddress, amount, blockTime }) => ({
      key: id,
      token,
      address: toAddress,
      amount,
      blockTime,
    })),
  );
  return new Map(
    candidates.flatMap(({ id }) => {
      const match = matches.get(id);
      return match === undefined ? [] : [[id, match] as const];
    }),
  );
}

/**
 * Dust, and money that an address sends to itself, pay for nothing; neither does a token whose contract counts
 * otherwise than configured. They are recorded all the same.
 */
function mayPay(transfer: TransferRow, { network, state }: Entry): boolean {
  const token = findToken(network, transfer.token);
  return (
    token !== null &&
    transfer.amount >= token.dust &&
    transfer.fromAddress !== transfer.toAddress &&
    !state.disabledTokens.includes(token.symbol)
  );
}
