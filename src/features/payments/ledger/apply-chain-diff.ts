import type { InTx } from "../../../app.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { endRecycling, watchedAmong } from "../../invoices/holds/addresses.ts";
import { addressOwners, spendAddresses } from "../../wallets/store.ts";
import { presentTransfer } from "../inbox/records.ts";
import type { TransferRow } from "../table.ts";
import { matchTransfers, type MatchedTransfers } from "./match-transfers.ts";
import { firstStatus, isMature, openPayment } from "./payment-rules.ts";
import { insertTransfers, putOnChain } from "./store.ts";
import type { ChainContext, ChainDiffInput, PaymentChange } from "./types.ts";
import { writePayments } from "./write-payments.ts";

/** The changed transfers as they are stored now. */
type SavedTransfers = ReadonlyMap<Id<"transfer">, TransferRow>;

/**
 * Stores changes on the chain and their effects on payments and invoices, in the caller's transaction and with a fixed
 * number of statements. Locks rows in the order transfers, invoices, payments. Returns true if payments reached their
 * required confirmations, so that their receipts can be read immediately.
 */
export async function applyChainDiff(tx: Tx, app: InTx, input: ChainDiffInput): Promise<boolean> {
  const matched = await matchTransfers(tx, app, input);
  const transfers = await saveTransfers(tx, app, input, matched);
  const changes = await decidePayments(tx, app, input, matched, transfers);
  return changes.some(({ after }) => isMature(after, input.state.tipHeight));
}

/** Opens a payment for each match, stores all payments and settles their invoices. Returns the changed payments. */
async function decidePayments(
  tx: Tx,
  app: InTx,
  input: ChainDiffInput,
  { matches, terms, payments }: MatchedTransfers,
  transfers: SavedTransfers,
): Promise<readonly PaymentChange[]> {
  if (terms.size === 0) return [];
  const { at } = input;
  const opened = [...matches].map(([transferId, match]): PaymentChange => {
    const transfer = transfers.get(transferId);
    const asked = terms.get(match.invoiceId);
    assert(
      transfer !== undefined && asked !== undefined,
      "a match names an unknown transfer or invoice",
    );
    const id = app.ids.next("payment", at);
    const after = openPayment({ id, transfer, match, terms: asked, source: "detected", at });
    return { before: null, after };
  });
  // A payment is confirmed only if it is still in the block of its verified transfer.
  const verified = input.verified.map(({ transfer }) => [transfer.id, transfer] as const);
  const known = new Map([...verified, ...transfers]);
  return writePayments(tx, app, input, terms, [...payments, ...opened], known);
}

/** Stores transfers at their new positions, with their invoices and organizations. */
async function saveTransfers(
  tx: Tx,
  app: InTx,
  input: ChainDiffInput,
  matched: MatchedTransfers,
): Promise<SavedTransfers> {
  const { matches, orphaned } = matched;
  const moved = matched.moved.map((row) => assigned(row, matched));
  const fresh = await withVerification(
    tx,
    input,
    await withOwners(
      tx,
      input,
      matched.fresh.map((row) => assigned(row, matched)),
    ),
  );
  await putOnChain(
    tx,
    moved.map((row) => ({ row, isMatched: matches.has(row.id) })),
  );
  await insertTransfers(tx, fresh);
  await preventReuse(tx, input, matched, fresh);
  emitUnmatched(tx, app, input, fresh);
  return new Map([...fresh, ...moved, ...orphaned].map((row) => [row.id, row]));
}

/** Returns a transfer with the invoice that it was matched to, or with the reason why it was not credited. */
function assigned(row: TransferRow, matched: MatchedTransfers): TransferRow {
  const { matches, withheld, free, terms } = matched;
  const match = matches.get(row.id);
  if (match === undefined) {
    return free.has(row.id) ? { ...row, waitingReason: withheld.get(row.id) ?? null } : row;
  }
  const asked = terms.get(match.invoiceId);
  assert(asked !== undefined, "a transfer was matched to an invoice that was not locked");
  const { organizationId, invoiceId } = match;
  const isCounted = firstStatus(row.blockTime, asked) === "confirming";
  return {
    ...row,
    organizationId,
    invoiceId,
    disposition: isCounted ? "matched" : "unmatched",
    waitingReason: null,
  };
}

/** Assigns transfers that no rule matched to the owners of their addresses. */
async function withOwners(
  tx: Tx,
  { network }: ChainContext,
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

/** Lets no address of an extended key that has received a transfer be given to another invoice. */
async function preventReuse(
  tx: Tx,
  { network }: ChainContext,
  { matches }: MatchedTransfers,
  fresh: readonly TransferRow[],
): Promise<void> {
  // A shared address is not derived, so that most transfers need nothing here.
  const isOwn = ({ id }: TransferRow) => {
    const rule = matches.get(id)?.rule;
    return rule === undefined || rule === "exclusive_address";
  };
  const addresses = fresh.filter(isOwn).map(({ toAddress }) => toAddress);
  if (addresses.length === 0) return;
  const spent = await spendAddresses(tx, network.addressFamily, addresses);
  if (spent > 0) await endRecycling(tx, network.id, addresses);
}

/**
 * Skips the verification of transfers that match nothing at addresses where no invoice is payable: each would cost two
 * receipts, and nothing is refunded of them before somebody decides about them.
 */
async function withVerification(
  tx: Tx,
  { network }: ChainContext,
  rows: readonly TransferRow[],
): Promise<readonly TransferRow[]> {
  const isFree = ({ invoiceId, verification }: TransferRow) =>
    invoiceId === null && verification === "open";
  const addresses = rows.filter(isFree).map(({ toAddress }) => toAddress);
  if (addresses.length === 0) return rows;
  const held = new Set(await watchedAmong(tx, network.id, addresses));
  return rows.map((row) =>
    isFree(row) && !held.has(row.toAddress) ? { ...row, verification: "skipped" } : row,
  );
}

/** Emits an event for each transfer that no rule matched to an invoice. */
function emitUnmatched(
  tx: Tx,
  { journal }: InTx,
  { network, state, at }: ChainContext,
  rows: readonly TransferRow[],
): void {
  for (const transfer of rows) {
    const { id, organizationId, invoiceId, disposition } = transfer;
    if (organizationId === null || invoiceId !== null || disposition !== "unmatched") continue;
    const { tipHeight } = state;
    const view = {
      transfer,
      notation: network.kind,
      tipHeight,
      payments: [],
      decisions: [],
      suggestions: [],
    };
    journal.record(tx, at, {
      organizationId,
      subjectType: "transfer",
      subjectId: id,
      events: { types: ["transfer.unmatched"], version: 1, data: presentTransfer(view) },
    });
  }
}
