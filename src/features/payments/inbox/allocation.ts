import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { assert, NotFound, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { networkState, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Database, Reader, Tx, WriteContext } from "../../../platform/database/index.ts";
import { ManagedByBilling, quoteFor, type PayableTerms } from "../../invoices/index.ts";
import {
  readAllocations,
  requireCreditable,
  requireRoom,
  shown,
  type Allocation,
} from "./allocation-rules.ts";
import type { LedgerDeps, PaymentChange, TermsOf } from "../ledger/types.ts";
import { writePayments } from "../ledger/write-payments.ts";
import { assignTransfer, lockTransfer, paymentsOfTransfer } from "../hash-claims/store.ts";
import {
  InvoiceNotPayable,
  TokenMismatch,
  TransferAllocated,
  TransferReverted,
} from "../errors.ts";
import { openPayment, rejectPayment, dispositionAfter, takenOf } from "../ledger/payment-rules.ts";
import { lockPayments } from "../ledger/store.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import type { TransferView } from "./present-transfer.ts";
import { listedNetwork } from "./listed-network.ts";
import { noteDecisions } from "./store.ts";
import type { TransferService } from "./service.ts";

/** The merchant's operations on transfers that no rule matched to an invoice. */
export type TransferAllocation = TransferService & Bound<typeof methods>;

interface Located {
  readonly transfer: TransferRow;
  readonly network: Network;
  readonly state: NetworkState;
}

type Deps = LedgerDeps & {
  readonly db: Database;
  readonly clock: Clock;
  /** Every configured network by id, including disabled ones. */
  readonly networks: ReadonlyMap<string, Network>;
  readonly transfers: TransferService;
  /** Returns true if the organization has an invoice with this id, including drafts. */
  readonly hasInvoice: (
    reader: Reader,
    organizationId: Id<"organization">,
    invoiceId: Id<"invoice">,
  ) => Promise<boolean>;
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
    const located = await locate(deps, tx, organizationId, transferId);
    const { transfer, network, state } = located;
    if (transfer.status !== "seen") {
      throw new TransferReverted(
        "A reorganization removed this transfer from its chain. Wait until it is back.",
      );
    }
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
      asked.push(await requirePayable(deps, tx, located, invoiceId, terms));
    }
    const stored = await lockPayments(tx, invoiceIds);

    const at = clock.now();
    const opened = given.map((each, place) => {
      const payable = asked[place];
      assert(payable !== undefined, "an allocation has no terms");
      return open(deps, located, payable, each, at);
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
    record(deps, tx, at, transfer, opened);
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

/** Returns the terms of an invoice that may receive an allocation, or throws the reason why it may not. */
async function requirePayable(
  deps: Deps,
  tx: Tx,
  { transfer, network }: Located,
  invoiceId: Id<"invoice">,
  terms: TermsOf,
): Promise<PayableTerms> {
  const { networks } = deps;
  const { organizationId } = transfer;
  assert(organizationId !== null, `${transfer.id} has no organization`);
  const asked = terms.get(invoiceId);
  if (asked?.organizationId !== organizationId) {
    if (asked === undefined && (await deps.hasInvoice(tx, organizationId, invoiceId))) {
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
    const offered = asked.quotes.map(
      (quote) => `${quote.tokenSymbol} on ${networks.get(quote.network)?.title ?? quote.network}`,
    );
    throw new TokenMismatch(
      `${invoiceId} asks for ${offered.join(" or ")}, but this transfer is ${transfer.token} on ${network.title}. Choose another invoice.`,
    );
  }
  return asked;
}

function open(
  deps: Deps,
  { transfer }: Located,
  terms: PayableTerms,
  given: { readonly invoiceId: Id<"invoice">; readonly amount: bigint },
  at: Instant,
): PaymentRow {
  const { organizationId } = terms;
  const { invoiceId, amount } = given;
  const payment = openPayment({
    id: deps.ids.next("payment", at),
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

function record(
  deps: Deps,
  tx: Tx,
  at: Instant,
  transfer: TransferRow,
  opened: readonly PaymentRow[],
): void {
  deps.journal.record(tx, at, {
    action: "transfer.allocated",
    organizationId: transfer.organizationId,
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
