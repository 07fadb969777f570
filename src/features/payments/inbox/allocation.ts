import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { assert, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Tx, WriteContext } from "../../../platform/database/database.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import {
  readAllocations,
  requireCreditable,
  requireRoom,
  type Allocation,
} from "./allocation-rules.ts";
import type { LedgerDeps, PaymentChange } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import { assignTransfer, lockTransfer, paymentsOfTransfer } from "../hash-claims/store.ts";
import { TransferAllocated } from "../errors.ts";
import { rejectPayment, dispositionAfter, takenOf } from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import type { TransferRow } from "../table.ts";
import type { TransferView } from "./present-transfer.ts";
import { listedNetwork } from "./listed-network.ts";
import { noteDecisions } from "./store.ts";
import {
  openAllocation,
  recordAllocation,
  requireOnChain,
  requirePayable,
  type AllocationDependencies,
} from "./open-allocation.ts";
import type { TransferService } from "./service.ts";

/** The merchant's operations on transfers that no rule matched to an invoice. */
export type TransferAllocation = TransferService & Bound<typeof methods>;

interface Located {
  readonly transfer: TransferRow;
  readonly network: Network;
  readonly state: NetworkState;
}

type Deps = LedgerDeps &
  AllocationDependencies & {
    readonly db: Database;
    readonly clock: Clock;
    readonly transfers: TransferService;
    /** Wakes the watcher of a network. */
    readonly wake: (network: string) => void;
  };

const methods = { allocate, ignore, unignore };

export function makeTransferAllocation(deps: Deps): TransferAllocation {
  return { ...deps.transfers, ...bind(deps, methods) };
}

/**
 * Allocates a transfer, or parts of it, to issued invoices of its organization in any status. The new payments count
 * immediately; payments of the transfer in review are rejected. An ignored transfer leaves that state.
 * 404 for an unknown invoice; 409 `allocation_too_large`, `transfer_allocated`, `transfer_reverted`,
 * `transfer_not_creditable`, `invoice_not_payable`, `managed_by_billing`; 422 `token_mismatch`.
 */
function allocate(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
  allocations: readonly Allocation[],
): Promise<TransferView> {
  const { db, clock, transfers } = deps;
  return db.write(context, async (tx) => {
    const { transfer, network, state } = await locate(deps, tx, organizationId, transferId);
    requireOnChain(transfer);
    requireCreditable(transfer, network, state.disabledTokens);
    const given = readAllocations(transfer, allocations);
    const claiming = await paymentsOfTransfer(tx, transferId);
    requireRoom(transfer, claiming, given);

    const own = claiming.filter((payment) => payment.organizationId === organizationId);
    const named = [...given, ...own].map(({ invoiceId }) => invoiceId);
    const invoiceIds = [...new Set(named)].sort();
    const terms = await deps.invoices.lockTerms(tx, invoiceIds);
    const asked: PayableTerms[] = [];
    for (const { invoiceId } of given) {
      asked.push(await requirePayable(deps, tx, organizationId, transfer, invoiceId, terms));
    }
    const stored = await lockPayments(tx, invoiceIds);

    const at = clock.now();
    const opened = given.map((each, place) => {
      const payable = asked[place];
      assert(payable !== undefined, "an allocation has no terms");
      return openAllocation(deps, transfer, payable, each, at);
    });
    const superseded = stored
      .filter((row) => row.transferId === transferId && row.status === "review")
      .map(rejectPayment);
    const ruled = new Map(superseded.map((row) => [row.id, row]));
    const after = [...claiming.map((row) => ruled.get(row.id) ?? row), ...opened];
    const disposition = dispositionAfter(transfer, after, "unmatched");
    await assignTransfer(tx, transferId, disposition);
    await noteDecisions(tx, deps.ids, at, "allocated", opened);
    await noteDecisions(tx, deps.ids, at, "rejected", superseded);
    recordAllocation(deps, tx, at, transfer, opened);
    await writePayments(
      tx,
      deps,
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
      deps.wake(network.id);
    });
    return transfers.view(tx, { ...transfer, ...disposition });
  });
}

/** Ignores the unallocated part of a transfer. Idempotent. 409 `transfer_allocated` if all of it is allocated. */
function ignore(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferView> {
  return setIgnored(deps, context, organizationId, transferId, true);
}

/** Returns an ignored transfer to the inbox. Idempotent. 409 `transfer_not_creditable` for dust. */
function unignore(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferView> {
  return setIgnored(deps, context, organizationId, transferId, false);
}

async function locate(
  { networks }: Deps,
  tx: Tx,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<Located> {
  const transfer = await lockTransfer(tx, transferId);
  if (transfer?.organizationId !== organizationId) throw notFound();
  const network = listedNetwork(networks, transfer.network);
  const state = await networkState(tx, transfer.network);
  assert(state !== null, `the chain of ${transferId} was never read`);
  return { transfer, network, state };
}

/** Ignores the unallocated part of a transfer, or returns it to the inbox. */
function setIgnored(
  deps: Deps,
  context: WriteContext,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
  isIgnored: boolean,
): Promise<TransferView> {
  const { db, clock, transfers } = deps;
  return db.write(context, async (tx) => {
    const { transfer, network } = await locate(deps, tx, organizationId, transferId);
    const disposition = isIgnored ? "ignored" : "unmatched";
    if (transfer.disposition === disposition) return transfers.view(tx, transfer);
    if (transfer.disposition === "matched") {
      if (!isIgnored) return transfers.view(tx, transfer);
      throw new TransferAllocated(
        "This transfer is completely allocated. Reverse one of its payments first.",
      );
    }
    if (!isIgnored) requireCreditable(transfer, network, []);
    const at = clock.now();
    await assignTransfer(tx, transferId, { disposition });
    const left = transfer.amount - takenOf(await paymentsOfTransfer(tx, transferId));
    const subject = { id: null, invoiceId: null, organizationId, transferId, amount: left };
    await noteDecisions(tx, deps.ids, at, isIgnored ? "ignored" : "restored", [subject]);
    deps.journal.record(tx, at, {
      action: isIgnored ? "transfer.ignored" : "transfer.restored",
      organizationId,
      subjectType: "transfer",
      subjectId: transferId,
      changes: { status: { from: transfer.disposition, to: disposition } },
    });
    return transfers.view(tx, { ...transfer, disposition });
  });
}
