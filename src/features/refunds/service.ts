import { bind, type Bound } from "../../kernel/bind.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money, parseMoneyField } from "../../kernel/money/money.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Address } from "../../platform/chain/client.ts";
import { UniqueViolation } from "../../platform/database/errors.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/database.ts";
import { ProviderUnusable } from "../payments/errors.ts";
import type { RefundablePayment, RefundLedger } from "../payments/refunds/refundable.ts";
import { readRefundAddress } from "./payer/refund-address.ts";
import { writeRefund, type RefundJournal } from "./changes.ts";
import { RefundOpen, RefundTooLarge, TransactionUsed } from "./errors.ts";
import { viewOf, type HeldRefund, type RefundView } from "./present.ts";
import { requireChangeable, requireRefundable, requireStillRefundable } from "./rules.ts";
import type { RefundSource } from "./status.ts";
import {
  findRefund,
  listRefunds,
  lockOpenRefund,
  lockRefund,
  refundById,
  refundOfTransaction,
  type RefundFilters,
} from "./store.ts";
import type { RefundRow } from "./table.ts";
import { unexamined } from "./verification/evidence.ts";
import type { RefundExaminer } from "./verification/examiner.ts";

/** Merchants' refunds. Till verifies them on the chain; it holds no key and sends nothing. */
export type RefundService = Bound<typeof methods>;

export interface RefundDependencies extends RefundJournal {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly payments: RefundLedger;
  /** The examiners of the networks that have a provider. */
  readonly examiners: readonly RefundExaminer[];
  /** Wakes the watcher of a network, which examines its refunds. */
  readonly wake: (network: string) => void;
}

/** A payment as a person needs it before a refund. */
export interface PaymentToRefund {
  readonly organizationId: Id<"organization">;
  readonly invoiceId: Id<"invoice">;
  readonly status: string;
  /** In the token, as decimal text. */
  readonly amount: string;
  readonly tokenSymbol: string;
  readonly network: string;
}

const methods = {
  list,
  get,
  find,
  paymentToRefund,
  create,
  send,
  reject,
  findHeld,
  confirmHeld,
};

export function makeRefundService(deps: RefundDependencies): RefundService {
  return bind(deps, methods);
}

/** Returns an organization's refunds, newest first. */
async function list(
  { db, networks }: RefundDependencies,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: RefundFilters & PageQuery,
): Promise<Page<RefundView>> {
  const page = parsePage({ limit, cursor }, "refunds", { organizationId, ...filters });
  const rows = await listRefunds(db, organizationId, filters, page);
  return mapPage(toPage(rows, page), (row) => viewOf(row, networks));
}

/** Returns a refund of an organization. 404 if the organization has no such refund. */
async function get(
  { db, networks }: RefundDependencies,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
): Promise<RefundView> {
  const row = await findRefund(db, organizationId, refundId);
  if (row === null) throw notFound();
  return viewOf(row, networks);
}

/** Returns a refund of any organization, for the operator. */
async function find(
  { db, networks }: RefundDependencies,
  refundId: Id<"refund">,
): Promise<RefundView> {
  const row = await refundById(db, refundId);
  if (row === null) throw notFound();
  return viewOf(row, networks);
}

/** Returns a payment of any organization that is to be refunded, for the operator. */
async function paymentToRefund(
  { payments }: RefundDependencies,
  paymentId: Id<"payment">,
): Promise<PaymentToRefund> {
  const { organizationId, invoiceId, status, token, tokenDecimals, amount, network } =
    await payments.find(paymentId);
  const paid = formatMoney(money(amount, tokenAsset(token, tokenDecimals)));
  return { organizationId, invoiceId, status, amount: paid, tokenSymbol: token, network };
}

/**
 * Records a refund that the merchant agreed with the payer. 404 if there is no such payment; 409 `not_refundable`,
 * `refund_too_early`, `refund_too_large`, `refund_open`, `managed_by_billing`; 400 or 422 `refund_address_refused` for the address.
 */
function create(
  deps: RefundDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: { readonly paymentId: Id<"payment">; readonly amount: string; readonly address: string },
): Promise<RefundView> {
  return deps.db.write(context, async (tx) => {
    const found = await deps.payments.lock(tx, organizationId, input.paymentId);
    const { payment, transfer, network, free } = found;
    const asset = tokenAsset(payment.token, payment.tokenDecimals);
    const { units } = parseMoneyField("/amount", input.amount, asset);
    const address = await readRefundAddress(tx, deps.networks, network, organizationId, {
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
    return viewOf(await add(deps, tx, found, "merchant", units, address), deps.networks);
  });
}

/** Adds a requested refund of a locked payment. The caller has checked the amount and the address. */
export async function add(
  deps: Pick<RefundDependencies, "clock" | "ids" | "payments" | "journal" | "networks">,
  tx: Tx,
  found: RefundablePayment,
  source: RefundSource,
  amount: bigint,
  address: Address,
): Promise<RefundRow> {
  const { payment, transfer } = found;
  const at = deps.clock.now();
  await deps.payments.request(tx, found, amount);
  const row: RefundRow = {
    id: deps.ids.next("refund", at),
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
  return writeRefund(tx, deps, null, row, "refund.requested");
}

/**
 * Names the transaction that pays a refund; the network's worker verifies it. Another transaction replaces the named one
 * until that is found in a block, as when its fee is raised. 409 `refund_not_requested`,
 * `transaction_used`, `not_refundable` if the surplus is gone, `refund_too_early`, 400 if the text contains no hash.
 */
async function send(
  deps: RefundDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  transactionHash: string,
): Promise<RefundView> {
  try {
    return await nameTransaction(deps, context, organizationId, refundId, transactionHash);
  } catch (error) {
    // Two refunds of different payments have no lock in common.
    if (!(error instanceof UniqueViolation && error.index === "refunds_hash")) throw error;
    throw new TransactionUsed(
      "The transaction pays another refund. Each refund needs a transaction of its own.",
    );
  }
}

function nameTransaction(
  deps: RefundDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  transactionHash: string,
): Promise<RefundView> {
  return deps.db.write(context, async (tx) => {
    const { found, refund } = await lockBoth(deps, tx, organizationId, refundId);
    const hash = found.network.kind.parseTransactionHash(transactionHash);
    if (hash === null) {
      throw invalidField(
        "/transactionHash",
        "invalid_format",
        "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
      );
    }
    if (refund.transactionHash === hash) return viewOf(refund, deps.networks);
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
    const at = deps.clock.now();
    // The sums of the payment have a refund whose transaction is replaced already.
    if (refund.status === "requested") {
      requireStillRefundable(found);
      await deps.payments.send(tx, found, refund.amount, at);
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
    const row = await writeRefund(tx, deps, refund, sent, "refund.sent");
    tx.afterCommit(() => {
      deps.wake(row.network);
    });
    return viewOf(row, deps.networks);
  });
}

/**
 * Rejects a refund that is requested, or that was sent but whose transaction was found in no block. 409
 * `refund_not_requested`.
 */
function reject(
  deps: RefundDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
  reason: string,
): Promise<RefundView> {
  return deps.db.write(context, async (tx) => {
    const { found, refund } = await lockBoth(deps, tx, organizationId, refundId);
    requireChangeable(refund);
    const updatedAt: Instant = deps.clock.now();
    if (refund.status === "sent") {
      await deps.payments.cancelSent(tx, found, refund.amount, updatedAt);
    } else {
      await deps.payments.cancel(tx, found, refund.amount);
    }
    const rejected: RefundRow = {
      ...refund,
      status: "rejected",
      transactionHash: null,
      sentAt: null,
      reason,
      updatedAt,
    };
    return viewOf(await writeRefund(tx, deps, refund, rejected, "refund.rejected"), deps.networks);
  });
}

/**
 * Returns a refund of any organization that a contradiction between providers holds, with each provider's opinion now, for
 * the operator. Throws NotFound, ProviderUnusable or HeldNotConfirmed.
 */
async function findHeld(deps: RefundDependencies, refundId: Id<"refund">): Promise<HeldRefund> {
  const { refund } = await find(deps, refundId);
  return examinerOf(deps, refund).findHeld(refund);
}

/** Confirms a held refund for an operator. Throws NotFound, ProviderUnusable or HeldNotConfirmed. */
async function confirmHeld(
  deps: RefundDependencies,
  context: WriteContext,
  refundId: Id<"refund">,
  reason: string,
): Promise<HeldRefund> {
  const { refund } = await find(deps, refundId);
  return examinerOf(deps, refund).confirmHeld(context, refund, reason);
}

function examinerOf({ examiners }: RefundDependencies, { network }: RefundRow): RefundExaminer {
  const own = examiners.find((each) => each.network.id === network);
  if (own !== undefined) return own;
  throw new ProviderUnusable(`${network} has no provider. Configure one and try again.`);
}

/** Locks a refund after its payment, in the order of the ledger. */
async function lockBoth(
  { payments }: RefundDependencies,
  tx: Tx,
  organizationId: Id<"organization">,
  refundId: Id<"refund">,
): Promise<{ readonly found: RefundablePayment; readonly refund: RefundRow }> {
  const named = await findRefund(tx, organizationId, refundId);
  if (named === null) throw notFound();
  const found = await payments.lock(tx, organizationId, named.paymentId);
  const refund = await lockRefund(tx, refundId);
  if (refund === null) throw notFound();
  return { found, refund };
}
