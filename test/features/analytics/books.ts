import type { InvoiceStatus } from "../../../src/features/invoices/rules.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import type { PaymentStatus } from "../../../src/features/payments/payment-status.ts";
import {
  payments,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../src/features/payments/table.ts";
import type { InvoiceRow } from "../../../src/features/invoices/store.ts";
import { rollUpAll } from "../../../src/features/usage/roll-up.ts";
import { makeMeter, meterInvoice } from "../../../src/features/usage/meter.ts";
import type { Instant } from "../../../src/kernel/clock.ts";
import type { Id, IdSource } from "../../../src/kernel/id.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { newIds } from "../../support/context.ts";
import type { Unsound } from "../../support/store/expect-store-is-consistent.ts";
import { testContext } from "../../support/store/stores.ts";

export interface WrittenInvoice {
  readonly organizationId: string;
  readonly at: Instant;
  /** In the currency's smallest unit. */
  readonly amount: bigint;
  readonly currency?: string;
  readonly decimals?: number;
  readonly status?: InvoiceStatus;
  readonly walletId?: string | null;
  readonly customerId?: string | null;
}

/** The consistency checks that fail on a store written by this module. */
export const handWritten = {
  checks: ["invoices.status", "invoices.held", "payments.ledger", "payments.confirmed"],
  because: "invoices and payments are inserted directly, without their transfers and holds",
} as const satisfies Unsound;

/** Writes invoices and payments down with any time, status and worth, and meters them as the program does. */
export function openBooks(db: Database) {
  // A new id source per id, because these rows are not in chronological order.
  const ids: IdSource = {
    next: (kind, at) => newIds().next(kind, at),
    unguessable: (prefix) => newIds().unguessable(prefix),
  };
  let transactions = 0;

  async function issue(given: WrittenInvoice): Promise<InvoiceRow> {
    const row = invoiceRow(ids.next("invoice", given.at), given);
    await db.write(testContext, async (tx) => {
      await tx.insert(invoices, row);
      meterInvoice(tx, ids, given.at, null, row);
    });
    return row;
  }

  async function setStatus(before: InvoiceRow, status: InvoiceStatus): Promise<InvoiceRow> {
    const after = { ...before, status };
    await db.write(testContext, async (tx) => {
      await tx.update(invoices, { status }, "WHERE id = $1", [before.id]);
      meterInvoice(tx, ids, before.createdAt, before, after);
    });
    return after;
  }

  async function pay(
    invoice: InvoiceRow,
    given: { at: Instant; worth: bigint; status?: PaymentStatus },
  ): Promise<PaymentRow> {
    transactions += 1;
    const transfer = transferRow(ids.next("transfer", given.at), invoice, given.at, transactions);
    const id = ids.next("payment", given.at);
    const row = paymentRow(id, invoice, transfer, given.worth, given.status ?? "confirmed");
    await db.write(testContext, async (tx) => {
      await tx.insert(transfers, transfer);
      await tx.insert(payments, row);
      const meter = makeMeter(ids);
      meter.payment(invoice, null, row);
      meter.append(tx, given.at);
    });
    return row;
  }

  async function change(
    invoice: InvoiceRow,
    before: PaymentRow,
    set: Partial<Pick<PaymentRow, "status" | "settlementAmount" | "blockTime">>,
  ): Promise<PaymentRow> {
    const after = { ...before, ...set };
    await db.write(testContext, async (tx) => {
      await tx.update(payments, set, "WHERE id = $1", [before.id]);
      // A payment stands where its transfer does.
      const { blockTime } = after;
      await tx.update(transfers, { blockTime }, "WHERE id = $1", [before.transferId]);
      const meter = makeMeter(ids);
      meter.payment(invoice, before, after);
      meter.append(tx, before.createdAt);
    });
    return after;
  }

  /** Adds up everything that waits, as the background does. */
  const settle = (): Promise<void> => rollUpAll(db, testContext);

  return { issue, setStatus, pay, change, settle, ids };
}

export type Books = ReturnType<typeof openBooks>;

const hash = "00".repeat(32);
const address = "00".repeat(20);

function invoiceRow(id: Id<"invoice">, given: WrittenInvoice): InvoiceRow {
  const { at, amount, status = "open" } = given;
  const isIssued = status !== "draft";
  return {
    id,
    organizationId: given.organizationId as Id<"organization">,
    publicId: `pub_${id}`,
    checkoutId: isIssued ? `chk_${id}` : null,
    status,
    exception: "none",
    version: 1,
    amount,
    settlementCurrency: given.currency ?? "USD",
    settlementDecimals: given.decimals ?? 2,
    tokenSymbol: "USDT",
    tokenDecimals: 6,
    network: "sandbox",
    requiredConfirmations: 3,
    payableAmount: isIssued ? amount : null,
    dustAmount: null,
    enteredAtLink: null,
    startedAtLink: null,
    startedFrom: null,
    askedAmount: null,
    remainingAmount: isIssued ? amount : null,
    exchangeRate: isIssued ? "1" : null,
    underpaymentTolerance: "0",
    walletId: (given.walletId ?? null) as Id<"wallet"> | null,
    walletAddress: isIssued ? address : null,
    addressIndex: null,
    customerId: (given.customerId ?? null) as Id<"customer"> | null,
    externalId: null,
    requestFingerprint: null,
    description: null,
    redirectUrl: null,
    expiresInSeconds: 3_600,
    managedBy: null,
    metadata: {},
    seenAmount: 0n,
    confirmedAmount: 0n,
    isLate: false,
    isReverted: false,
    latestBlock: null,
    completedAt: null,
    transactionHashes: [],
    aside: null,
    expiresAt: isIssued ? at + 3_600_000 : null,
    lateUntil: isIssued ? at + 7_200_000 : null,
    createdAt: at,
    updatedAt: at,
    issuedAt: isIssued ? at : null,
    countedAt: isIssued ? at : null,
    paidAt: null,
    canceledAt: null,
    paidAmount: null,
    paymentOptions: null,
  };
}

function transferRow(
  id: Id<"transfer">,
  invoice: InvoiceRow,
  at: Instant,
  number: number,
): TransferRow {
  return {
    id,
    network: "sandbox",
    transactionHash: number.toString(16).padStart(64, "0"),
    logIndex: 0,
    ordinal: 0,
    blockHeight: 1,
    blockHash: hash,
    blockTime: at,
    contract: address,
    token: "USDT",
    tokenDecimals: 6,
    fromAddress: address,
    toAddress: address,
    amount: 1n,
    status: "seen",
    isFinal: true,
    organizationId: invoice.organizationId,
    invoiceId: invoice.id,
    disposition: "matched",
    waitingReason: null,
    verification: "open",
    createdAt: at,
  };
}

function paymentRow(
  id: Id<"payment">,
  invoice: InvoiceRow,
  transfer: TransferRow,
  worth: bigint,
  status: PaymentStatus,
): PaymentRow {
  return {
    id,
    organizationId: invoice.organizationId,
    invoiceId: invoice.id,
    transferId: transfer.id,
    transactionHash: transfer.transactionHash,
    network: "sandbox",
    token: "USDT",
    amount: transfer.amount,
    roundingAmount: 0n,
    settlementAmount: worth,
    settlementCurrency: invoice.settlementCurrency,
    settlementDecimals: invoice.settlementDecimals,
    tokenDecimals: 6,
    exchangeRate: "1",
    walletId: null,
    rule: "exact_amount",
    source: "detected",
    status,
    statusWhenBack: null,
    blockHeight: 1,
    blockHash: hash,
    blockTime: transfer.blockTime,
    requiredConfirmations: 3,
    confirmsAtHeight: 3,
    version: 1,
    createdAt: transfer.createdAt,
    refundRequested: 0n,
    refunded: 0n,
    confirmedAt: null,
  };
}
