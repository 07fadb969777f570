import { assert } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { findToken, findTokenByContract } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Entry, LedgerDeps } from "./entry.ts";
import type { Match } from "./ports.ts";
import { allocationsOf, insertTransfers, putOnChain, takeOffChain } from "./store.ts";
import type { TransferRow } from "./table.ts";
import type { TimedLog } from "./window.ts";

/** The transfers that changed, as they are now. */
export interface Placed {
  readonly transfers: ReadonlyMap<Id<"transfer">, TransferRow>;
  readonly matches: ReadonlyMap<Id<"transfer">, Match>;
  /** Every invoice that one of them pays. */
  readonly invoiceIds: ReadonlySet<Id<"invoice">>;
}

/**
 * Gives transfers the places that the chain has them at, writes down the new ones, and finds whose those are that are
 * nobody's yet. All that leave a place leave it first, because another may come to it.
 */
export async function placeTransfers(tx: Tx, deps: LedgerDeps, entry: Entry): Promise<Placed> {
  const { fresh, moved, orphaned } = entry.difference;
  const leaving = [...orphaned, ...moved.map(({ transfer }) => transfer)];
  await takeOffChain(
    tx,
    leaving.map(({ id }) => id),
  );
  const allocations = await allocationsOf(
    tx,
    leaving.map(({ id }) => id),
  );
  const allocated = new Set(allocations.map(({ transferId }) => transferId));

  const arriving = [
    ...fresh.map((log) => newTransfer(deps.ids, entry, log)),
    ...moved.map(({ transfer, log }) => relocate(transfer, log)),
  ];
  const matches = await matchTransfers(
    tx,
    deps,
    entry,
    arriving.filter(({ id, invoiceId }) => invoiceId === null && !allocated.has(id)),
  );
  const matched = arriving.map((row): TransferRow => {
    const match = matches.get(row.id);
    if (match === undefined) return row;
    return { ...row, organizationId: match.organizationId, invoiceId: match.invoiceId };
  });
  await putOnChain(tx, matched.slice(fresh.length));
  await insertTransfers(tx, matched.slice(0, fresh.length));

  const gone = orphaned.map((row): TransferRow => ({ ...row, status: "orphaned" }));
  return {
    transfers: new Map([...matched, ...gone].map((row) => [row.id, row])),
    matches,
    invoiceIds: new Set([
      ...allocations.map(({ invoiceId }) => invoiceId),
      ...[...matches.values()].map(({ invoiceId }) => invoiceId),
    ]),
  };
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
