import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, notFound, NotFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { ManagedByBilling } from "../../invoices/errors.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import { findInvoice } from "../../invoices/store.ts";
import {
  listedNetwork,
  readAllocations,
  requireCreditable,
  requireRoom,
  shown,
} from "./allocation-rules.ts";
import type { PaymentChange, TermsOf } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import { assignTransfer, lockTransfer, paymentsOfTransfer } from "../hash-claims/store.ts";
import {
  InvoiceNotPayable,
  TokenMismatch,
  TransferAllocated,
  TransferReverted,
} from "../errors.ts";
import {
  dispositionAfter,
  openPayment,
  rejectedPayment,
  takenOf,
} from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import type { AllocationInput, TransferView } from "./records.ts";
import { noteDecisions } from "./store.ts";
import { viewTransfer } from "./transfers.ts";
import { wakeWatcher } from "../wake.ts";

interface Located {
  readonly transfer: TransferRow;
  readonly network: Network;
  readonly state: NetworkState;
}

/**
 * Allocates a transfer, or parts of it, to issued invoices of its organization in any status. The new payments count
 * immediately; payments of the transfer in review are rejected. An ignored transfer leaves that state.
 * 404 for an unknown invoice; 409 `allocation_too_large`, `transfer_allocated`, `transfer_reverted`,
 * `transfer_not_creditable`, `invoice_not_payable`, `managed_by_billing`; 422 `token_mismatch`.
 */
export function allocateTransfer(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
  allocations: readonly AllocationInput[],
): Promise<TransferView> {
  const { db, clock } = app;
  return db.write(context, async (tx) => {
    const { transfer, network, state } = await locate(tx, app, organizationId, transferId);
    requireOnChain(transfer);
    requireCreditable(transfer, network, state.disabledTokens);
    const given = readAllocations(transfer, allocations);
    const ofTransfer = await paymentsOfTransfer(tx, transferId);
    requireRoom(transfer, ofTransfer, given);

    const own = ofTransfer.filter((payment) => payment.organizationId === organizationId);
    const named = [...given, ...own].map(({ invoiceId }) => invoiceId);
    const invoiceIds = [...new Set(named)].sort();
    const terms = await lockTerms(tx, invoiceIds);
    const asked: PayableTerms[] = [];
    for (const { invoiceId } of given) {
      asked.push(await requirePayable(tx, app, organizationId, transfer, invoiceId, terms));
    }
    const stored = await lockPayments(tx, invoiceIds);

    const at = clock.now();
    const opened = given.map((each, index) => {
      const payable = asked[index];
      assert(payable !== undefined, "an allocation has no terms");
      return openAllocation(app, at, transfer, payable, each);
    });
    const superseded = stored
      .filter((row) => row.transferId === transferId && row.status === "review")
      .map(rejectedPayment);
    const ruled = new Map(superseded.map((row) => [row.id, row]));
    const after = [...ofTransfer.map((row) => ruled.get(row.id) ?? row), ...opened];
    const disposition = dispositionAfter(transfer, after, "unmatched");
    await assignTransfer(tx, transferId, disposition);
    await noteDecisions(tx, app.ids, at, "allocated", opened);
    await noteDecisions(tx, app.ids, at, "rejected", superseded);
    recordAllocation(tx, app, at, transfer, opened);
    await writePayments(
      tx,
      app,
      { network, state, at },
      terms,
      [
        ...stored.map((before): PaymentChange => ({
          before,
          after: ruled.get(before.id) ?? before,
        })),
        ...opened.map((payment): PaymentChange => ({ before: null, after: payment })),
      ],
      new Map([[transferId, transfer]]),
    );
    tx.afterCommit(() => {
      wakeWatcher(app, network.id);
    });
    return viewTransfer(tx, app, { ...transfer, ...disposition });
  });
}

/** Ignores the unallocated part of a transfer. Idempotent. 409 `transfer_allocated` if all of it is allocated. */
export function ignoreTransfer(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferView> {
  return setIgnored(app, context, organizationId, transferId, true);
}

/** Returns an ignored transfer to the inbox. Idempotent. 409 `transfer_not_creditable` for dust. */
export function unignoreTransfer(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferView> {
  return setIgnored(app, context, organizationId, transferId, false);
}

async function locate(
  tx: Tx,
  { networks }: InTx,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<Located> {
  const transfer = await lockTransfer(tx, transferId);
  if (transfer?.organizationId !== organizationId) throw notFound();
  const network = listedNetwork(networks.known, transfer.network);
  const state = await networkState(tx, transfer.network);
  assert(state !== null, `the chain of ${transferId} was never read`);
  return { transfer, network, state };
}

/** Ignores the unallocated part of a transfer, or returns it to the inbox. */
function setIgnored(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
  isIgnored: boolean,
): Promise<TransferView> {
  const { db, clock } = app;
  return db.write(context, async (tx) => {
    const { transfer, network } = await locate(tx, app, organizationId, transferId);
    const disposition = isIgnored ? "ignored" : "unmatched";
    if (transfer.disposition === disposition) return viewTransfer(tx, app, transfer);
    if (transfer.disposition === "matched") {
      if (!isIgnored) return viewTransfer(tx, app, transfer);
      throw new TransferAllocated(
        "This transfer is completely allocated. Reverse one of its payments first.",
      );
    }
    if (!isIgnored) requireCreditable(transfer, network, []);
    const at = clock.now();
    await assignTransfer(tx, transferId, { disposition });
    const left = transfer.amount - takenOf(await paymentsOfTransfer(tx, transferId));
    const subject = { id: null, invoiceId: null, organizationId, transferId, amount: left };
    await noteDecisions(tx, app.ids, at, isIgnored ? "ignored" : "restored", [subject]);
    app.journal.record(tx, at, {
      action: isIgnored ? "transfer.ignored" : "transfer.restored",
      organizationId,
      subjectType: "transfer",
      subjectId: transferId,
      changes: { status: { from: transfer.disposition, to: disposition } },
    });
    return viewTransfer(tx, app, { ...transfer, disposition });
  });
}

/** Throws 409 `transfer_reverted` unless the transfer is on its chain. */
export function requireOnChain({ status }: TransferRow): void {
  if (status === "seen") return;
  throw new TransferReverted(
    "A reorganization removed this transfer from its chain. Wait until it is back.",
  );
}

/**
 * Returns the terms of an invoice of the organization that may receive a part of the transfer, or throws the reason why
 * it may not.
 */
export async function requirePayable(
  tx: Tx,
  { networks }: InTx,
  organizationId: Id<"organization">,
  transfer: TransferRow,
  invoiceId: Id<"invoice">,
  terms: TermsOf,
): Promise<PayableTerms> {
  const asked = terms.get(invoiceId);
  if (asked?.organizationId !== organizationId) {
    if (asked === undefined && (await findInvoice(tx, organizationId, invoiceId)) !== null) {
      throw new InvoiceNotPayable(`${invoiceId} is a draft. Issue it, then allocate to it.`);
    }
    throw new NotFound(`No invoice ${invoiceId} is visible to this credential.`);
  }
  if (asked.managedBy === "billing") {
    throw new ManagedByBilling(
      `${invoiceId} collects a platform invoice and accepts only payments made to it directly. Leave the transfer unallocated, and give its payer a credit with till billing credit.`,
    );
  }
  if (quoteFor(asked.quotes, transfer) === undefined) {
    const titleOf = (network: string) => networks.known.get(network)?.title ?? network;
    const offered = asked.quotes.map(
      (quote) => `${quote.tokenSymbol} on ${titleOf(quote.network)}`,
    );
    throw new TokenMismatch(
      `${invoiceId} asks for ${offered.join(" or ")}, but this transfer is ${transfer.token} on ${titleOf(transfer.network)}. Choose another invoice.`,
    );
  }
  return asked;
}

/** Returns a new payment for a part of a transfer that a person assigns to an invoice. */
export function openAllocation(
  { ids }: InTx,
  at: Instant,
  transfer: TransferRow,
  terms: PayableTerms,
  given: { readonly invoiceId: Id<"invoice">; readonly amount: bigint },
): PaymentRow {
  const { organizationId } = terms;
  const { invoiceId, amount } = given;
  const payment = openPayment({
    id: ids.next("payment", at),
    transfer,
    terms,
    amount,
    at,
    match: { invoiceId, organizationId, rule: "manual" },
    source: "operator",
  });
  // No review, even if the transfer is late or the invoice canceled: the merchant has decided.
  return { ...payment, status: "confirming" };
}

/** Records in the audit log which invoices a person assigned a transfer to. */
export function recordAllocation(
  tx: Tx,
  { journal }: InTx,
  at: Instant,
  transfer: TransferRow,
  opened: readonly PaymentRow[],
): void {
  const [first] = opened;
  assert(first !== undefined, "an allocation opens a payment");
  journal.record(tx, at, {
    action: "transfer.allocated",
    organizationId: first.organizationId,
    subjectType: "transfer",
    subjectId: transfer.id,
    changes: {
      allocations: opened.map(({ id, invoiceId, amount }) => ({
        paymentId: id,
        invoiceId,
        amount: shown(transfer, amount),
      })),
    },
  });
}
