import type { InTx } from "../../../app.ts";
import { assert } from "../../../kernel/errors.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { matchTransfers, type MatchedTransfers } from "./match-transfers.ts";
import { isMature, openPayment } from "./payment-rules.ts";
import { saveTransfers, type SavedTransfers } from "./save-transfers.ts";
import type { ChainDiffInput, PaymentChange } from "./types.ts";
import { writePayments } from "./write-payments.ts";

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
