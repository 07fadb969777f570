import type { App, InTx } from "../../../app.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import {
  listedNetwork,
  readAllocations,
  requireCreditable,
  requireRoom,
} from "./allocation-rules.ts";
import type { PaymentChange } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import { assignTransfer, lockTransfer, paymentsOfTransfer } from "../hash-claims/store.ts";
import { TransferAllocated } from "../errors.ts";
import { rejectedPayment, dispositionAfter, takenOf } from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import type { TransferRow } from "../table.ts";
import type { AllocationInput, TransferView } from "./records.ts";
import { noteDecisions } from "./store.ts";
import {
  openAllocation,
  recordAllocation,
  requireOnChain,
  requirePayable,
} from "./open-allocation.ts";
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
    const claiming = await paymentsOfTransfer(tx, transferId);
    requireRoom(transfer, claiming, given);

    const own = claiming.filter((payment) => payment.organizationId === organizationId);
    const named = [...given, ...own].map(({ invoiceId }) => invoiceId);
    const invoiceIds = [...new Set(named)].sort();
    const terms = await lockTerms(tx, invoiceIds);
    const asked: PayableTerms[] = [];
    for (const { invoiceId } of given) {
      asked.push(await requirePayable(tx, app, organizationId, transfer, invoiceId, terms));
    }
    const stored = await lockPayments(tx, invoiceIds);

    const at = clock.now();
    const opened = given.map((each, place) => {
      const payable = asked[place];
      assert(payable !== undefined, "an allocation has no terms");
      return openAllocation(app, at, transfer, payable, each);
    });
    const superseded = stored
      .filter((row) => row.transferId === transferId && row.status === "review")
      .map(rejectedPayment);
    const ruled = new Map(superseded.map((row) => [row.id, row]));
    const after = [...claiming.map((row) => ruled.get(row.id) ?? row), ...opened];
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
