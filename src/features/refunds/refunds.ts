import type { App, InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { formatMoney, money, parseMoneyField, tokenAsset } from "../../kernel/money/money.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Address } from "../../platform/chain/client.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { getAnyPayment } from "../payments/payments.ts";
import {
  lockRefundable,
  noteSentRefund,
  releaseRefund,
  releaseSentRefund,
  reserveRefund,
  type RefundablePayment,
} from "../payments/refundable.ts";
import { wakeWatcher } from "../payments/wake.ts";
import { readRefundAddress } from "./refund-address.ts";
import { writeRefund } from "./changes.ts";
import { RefundOpen, RefundTooLarge, TransactionUsed } from "./errors.ts";
import { viewOf, type CreateRefundInput, type RefundView } from "./records.ts";
import { requireChangeable, requireRefundable, requireStillRefundable } from "./rules.ts";
import type { RefundSource } from "./status.ts";
import {
  findRefund,
  findRefunds,
  lockOpenRefund,
  lockRefund,
  refundById,
  refundOfTransaction,
  type RefundFilters,
  type RefundRow,
} from "./store.ts";
import { unexamined } from "./verification/evidence.ts";

// Merchants' refunds. Till verifies them on the chain; it holds no key and sends nothing.

/** A payment as a person needs it before a refund. */
interface PaymentToRefund {
  readonly invoiceId: Id<"invoice">;
  readonly status: string;
  /** In the token, as decimal text. */
  readonly amount: string;
  readonly tokenSymbol: string;
  readonly network: string;
}

/** Returns an organization's refunds, newest first. */
export async function listRefunds(
  { db, networks }: App,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: RefundFilters & PageQuery,
): Promise<Page<RefundView>> {
  const page = parsePage({ limit, cursor }, "refunds", { organizationId, ...filters });
  const rows = await findRefunds(db, organizationId, filters, page);
  return mapPage(toPage(rows, page), (row) => viewOf(row, networks.known));
}

/** Returns a refund of an organization. 404 if the organization has no such refund. */
export async function getRefund(
  { db, networks }: App,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
): Promise<RefundView> {
  const row = await findRefund(db, organizationId, refundId);
  if (row === null) throw notFound();
  return viewOf(row, networks.known);
}

/** Returns a refund of any organization, for the operator. */
export async function getAnyRefund(
  { db, networks }: App,
  refundId: Id<"refund">,
): Promise<RefundView> {
  const row = await refundById(db, refundId);
  if (row === null) throw notFound();
  return viewOf(row, networks.known);
}

/** Returns a payment of any organization that is to be refunded, for the operator. */
export async function getPaymentToRefund(
  app: App,
  paymentId: Id<"payment">,
): Promise<PaymentToRefund> {
  const { payment } = await getAnyPayment(app, paymentId);
  const { invoiceId, status, token, tokenDecimals, amount, network } = payment;
  const paid = formatMoney(money(amount, tokenAsset(token, tokenDecimals)));
  return { invoiceId, status, amount: paid, tokenSymbol: token, network };
}

/**
 * Records a refund that the merchant agreed with the payer. 404 if there is no such payment; 409 `not_refundable`,
 * `refund_too_early`, `refund_too_large`, `refund_open`, `managed_by_billing`; 400 or 422 `refund_address_refused` for the address.
 */
export function createRefund(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CreateRefundInput,
): Promise<RefundView> {
  return app.db.write(context, async (tx) => {
    const found = await lockRefundable(tx, app, organizationId, input.paymentId);
    const { payment, transfer, network, free } = found;
    const asset = tokenAsset(payment.token, payment.tokenDecimals);
    const { units } = parseMoneyField("/amount", input.amount, asset);
    const address = await readRefundAddress(tx, app, network, organizationId, {
      text: input.address,
      paidTo: transfer.toAddress,
    });
    const open = await lockOpenRefund(tx, payment.id);
    if (open !== null) {
      const remedy =
        open.status === "sent" ? "Wait until it is confirmed." : "Send or reject it first.";
      throw new RefundOpen(`${open.id} is ${open.status}. ${remedy}`);
    }
    requireRefundable(found);
    if (units > free) {
      const left = `${formatMoney(money(free, asset))} ${payment.token}`;
      throw new RefundTooLarge(`${left} of this payment can be refunded. Refund at most that.`);
    }
    const row = await addRefund(tx, app, found, "merchant", units, address);
    return viewOf(row, app.networks.known);
  });
}

/** Adds a requested refund of a locked payment. The caller has checked the amount and the address. */
export async function addRefund(
  tx: Tx,
  app: InTx,
  found: RefundablePayment,
  source: RefundSource,
  amount: bigint,
  address: Address,
): Promise<RefundRow> {
  const { payment, transfer } = found;
  const at = app.clock.now();
  await reserveRefund(tx, found, amount);
  const row: RefundRow = {
    id: app.ids.next("refund", at),
    organizationId: payment.organizationId,
    invoiceId: payment.invoiceId,
    paymentId: payment.id,
    source,
    status: "requested",
    network: payment.network,
    token: payment.token,
    tokenDecimals: payment.tokenDecimals,
    amount,
    address,
    fromAddress: transfer.fromAddress,
    paymentHash: payment.transactionHash,
    paymentRule: payment.rule,
    paymentHeight: payment.blockHeight,
    transactionHash: null,
    blockHeight: null,
    blockHash: null,
    refusal: null,
    refusedHash: null,
    reason: null,
    ...unexamined,
    nextAt: at,
    version: 1,
    createdAt: at,
    updatedAt: at,
    sentAt: null,
    confirmedAt: null,
  };
  return writeRefund(tx, app, null, row, "refund.requested");
}

/**
 * Names the transaction that pays a refund; the network's worker verifies it. Another transaction replaces the named one
 * until that is found in a block, as when its fee is raised. 409 `refund_not_requested`,
 * `transaction_used`, `not_refundable` if the surplus is gone, `refund_too_early`, 400 if the text contains no hash.
 */
export async function sendRefund(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  transactionHash: string,
): Promise<RefundView> {
  try {
    return await nameTransaction(app, context, organizationId, refundId, transactionHash);
  } catch (error) {
    // Two refunds of different payments have no lock in common.
    if (!(error instanceof UniqueViolation && error.index === "refunds_hash")) throw error;
    throw new TransactionUsed(
      "The transaction pays another refund. Each refund needs a transaction of its own.",
    );
  }
}

function nameTransaction(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  transactionHash: string,
): Promise<RefundView> {
  return app.db.write(context, async (tx) => {
    const { found, refund } = await lockBoth(tx, app, organizationId, refundId);
    const hash = found.network.kind.parseTransactionHash(transactionHash);
    if (hash === null) {
      throw invalidField(
        "/transactionHash",
        "invalid_format",
        "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
      );
    }
    if (refund.transactionHash === hash) return viewOf(refund, app.networks.known);
    requireChangeable(refund);
    const other = await refundOfTransaction(tx, refund, hash);
    if (other !== null) {
      throw new TransactionUsed(
        `The transaction pays ${other.id}. Each refund needs a transaction of its own.`,
      );
    }
    if (hash === refund.paymentHash) {
      throw new TransactionUsed(
        "This is the transaction of the payment. Give the one that you sent back.",
      );
    }
    const at = app.clock.now();
    // The sums of the payment have a refund whose transaction is replaced already.
    if (refund.status === "requested") {
      requireStillRefundable(found);
      await noteSentRefund(tx, app, at, found, refund.amount);
    }
    const sent: RefundRow = {
      ...refund,
      status: "sent",
      transactionHash: hash,
      blockHeight: null,
      blockHash: null,
      ...unexamined,
      refusal: null,
      refusedHash: null,
      nextAt: at,
      updatedAt: at,
      sentAt: at,
    };
    const row = await writeRefund(tx, app, refund, sent, "refund.sent");
    tx.afterCommit(() => {
      wakeWatcher(app, row.network);
    });
    return viewOf(row, app.networks.known);
  });
}

/**
 * Rejects a refund that is requested, or that was sent but whose transaction was found in no block. 409
 * `refund_not_requested`.
 */
export function rejectRefund(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  reason: string,
): Promise<RefundView> {
  return app.db.write(context, async (tx) => {
    const { found, refund } = await lockBoth(tx, app, organizationId, refundId);
    requireChangeable(refund);
    const updatedAt: Instant = app.clock.now();
    if (refund.status === "sent") {
      await releaseSentRefund(tx, app, updatedAt, found, refund.amount);
    } else {
      await releaseRefund(tx, found, refund.amount);
    }
    const rejected: RefundRow = {
      ...refund,
      status: "rejected",
      transactionHash: null,
      sentAt: null,
      reason,
      updatedAt,
    };
    const row = await writeRefund(tx, app, refund, rejected, "refund.rejected");
    return viewOf(row, app.networks.known);
  });
}

/** Locks a refund after its payment, in the order of the ledger. */
async function lockBoth(
  tx: Tx,
  app: InTx,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
): Promise<{ readonly found: RefundablePayment; readonly refund: RefundRow }> {
  const named = await findRefund(tx, organizationId, refundId);
  if (named === null) throw notFound();
  const found = await lockRefundable(tx, app, organizationId, named.paymentId);
  const refund = await lockRefund(tx, refundId);
  if (refund === null) throw notFound();
  return { found, refund };
}
