import type { App, InTx } from "../../../app.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money, tokenAsset } from "../../../kernel/money/money.ts";
import type { Address } from "../../../platform/chain/client.ts";
import { parseAnyTransactionHash } from "../../../platform/chain/kinds.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Tx, WriteContext } from "../../../platform/database/database.ts";
import { compareToRefund, mayBeRequested } from "../../payments/ledger/surplus.ts";
import { paymentsOfInvoice } from "../../payments/ledger/store.ts";
import { readSurpluses } from "../../payments/ledger/read-surpluses.ts";
import { lockRefundable, type RefundablePayment } from "../../payments/refundable.ts";
import { NotRefundable, TooManyRefundRequests } from "../errors.ts";
import { readRefundAddress } from "../refund-address.ts";
import { addRefund } from "../refunds.ts";
import { confirmationsForRefund, rejectedRequestsMax, tooEarly } from "../rules.ts";
import { hasOpenRefund, isLeftToMerchant, lockOpenRefund } from "../store.ts";

/** The invoice of a checkout. */
interface RefundedInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
}

/** The inputs of a payer. */
export interface RefundInput {
  /** The transaction of the payment, or an explorer's link to it. */
  readonly transactionHash: string;
  readonly address: string;
  /** The amount that the payer has seen, as decimal text: if it differs now, nothing is requested. */
  readonly amount?: string;
}

/** The result of a request: `open`: a refund of the payment is open already; `changed`: the amount differs now. */
export type RequestResult = "requested" | "open" | "changed";

/** The refund that a request would create. */
export interface RefundOffer {
  /** Decimal text. */
  readonly amount: string;
  readonly tokenSymbol: string;
  readonly network: Network;
  /** In the network's notation. */
  readonly address: string;
}

// Payers' requests for refunds. Anybody with the link to the checkout can make them.

interface Asked {
  readonly found: RefundablePayment;
  readonly address: Address;
}

/**
 * Returns the refund that these inputs would request; null if one of the payment is open already. 400 unless the texts
 * are a hash and an address of the network, 409 `not_refundable`, `refund_too_early`, `too_many_refund_requests`, 422
 * `refund_address_refused`.
 */
export function offerPayerRefund(
  app: App,
  context: WriteContext,
  invoice: RefundedInvoice,
  input: RefundInput,
): Promise<RefundOffer | null> {
  return app.db.write(context, async (tx) => {
    const asked = await ask(tx, app, invoice, input);
    if (asked === null) return null;
    const { found, address } = asked;
    const { payment, network } = found;
    return {
      amount: amountOf(found),
      tokenSymbol: payment.token,
      network,
      address: network.kind.formatAddress(address),
    };
  });
}

/**
 * Requests a refund of the whole surplus of a payment. One of the payment that is open already stays as it is. Problems as
 * for `offerPayerRefund`.
 */
export async function requestPayerRefund(
  tx: Tx,
  app: InTx,
  invoice: RefundedInvoice,
  input: RefundInput,
): Promise<RequestResult> {
  const asked = await ask(tx, app, invoice, input);
  if (asked === null) return "open";
  const { found, address } = asked;
  if (input.amount !== undefined && input.amount !== amountOf(found)) return "changed";
  await addRefund(tx, app, found, "payer", found.free, address);
  return "requested";
}

/** Returns the whole surplus that can be refunded, as decimal text. */
function amountOf({ payment, free }: RefundablePayment): string {
  return formatMoney(money(free, tokenAsset(payment.token, payment.tokenDecimals)));
}

async function ask(
  tx: Tx,
  app: InTx,
  invoice: RefundedInvoice,
  input: RefundInput,
): Promise<Asked | null> {
  const hash = parseAnyTransactionHash(input.transactionHash);
  if (hash === null) {
    throw invalidField(
      "/transactionHash",
      "invalid_format",
      "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
    );
  }
  const paymentId = await findPayment(tx, invoice, hash);
  if (paymentId === null) throw nothing();
  const found = await lockRefundable(tx, app, invoice.organizationId, paymentId);
  if ((await lockOpenRefund(tx, paymentId)) !== null) return null;
  if (await isLeftToMerchant(tx, paymentId)) {
    // A stranger may have submitted the hash, which is public: says no more than that there is nothing.
    throw found.payment.rule === "submitted_hash" ? nothing() : tooMany();
  }
  if (found.free === 0n) throw nothing();
  if (!found.isConfirmed || !found.isVerified) throw tooEarly(found, payerMustWait(found));
  const address = await readRefundAddress(tx, app, found.network, invoice.organizationId, {
    text: input.address,
    paidTo: found.transfer.toAddress,
  });
  return { found, address };
}

function payerMustWait(found: RefundablePayment): string {
  const { has, needed } = confirmationsForRefund(found);
  const reason =
    has < needed
      ? `its block can still be replaced, and has ${String(has)} of about ${String(needed)} confirmations`
      : "the network is asked about it once more";
  return `The payment is not certain yet: ${reason}. Send the same request again later.`;
}

function tooMany(): Error {
  return new TooManyRefundRequests(
    `The merchant has rejected ${String(rejectedRequestsMax)} requests for a refund of this payment. Contact the merchant, who can still refund it.`,
  );
}

/** Says no more than that there is nothing: the reason may be about another invoice. */
function nothing(): Error {
  return new NotRefundable(
    "The transaction has no confirmed payment of this invoice with an amount to refund. If the invoice has several payments, give the hash that the checkout session has in `refundable`; otherwise check the hash, or contact the merchant.",
  );
}

/**
 * Returns the invoice's payment by a transaction that the payer is offered first; one whose refund is refused if all are.
 * Null if a payer may ask for none, as of a managed invoice.
 */
async function findPayment(
  tx: Tx,
  invoice: RefundedInvoice,
  hash: string,
): Promise<Id<"payment"> | null> {
  const own = (await paymentsOfInvoice(tx, invoice.id)).filter(
    (payment) => payment.transactionHash === hash && mayBeRequested(payment),
  );
  const surpluses = await readSurpluses(
    tx,
    own.map(({ id }) => id),
  );
  const withSurplus = [...surpluses.values()]
    .filter(({ surplus }) => surplus > 0n)
    .sort((one, other) => compareToRefund(one.payment, other.payment));
  // A transaction has hardly ever more than one.
  for (const { payment, free } of withSurplus) {
    if (free === 0n || (await hasOpenRefund(tx, payment.id))) continue;
    if (!(await isLeftToMerchant(tx, payment.id))) return payment.id;
  }
  return withSurplus[0]?.payment.id ?? null;
}
