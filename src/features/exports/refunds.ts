import type { Instant } from "../../kernel/clock.ts";
import { divideRounded } from "../../kernel/money/ratio.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import type { Address } from "../../platform/chain/client.ts";
import { notationOf } from "../../platform/chain/networks.ts";
import { moment, settled, exportOf, tokens } from "./table-export.ts";

interface Row {
  readonly id: string;
  readonly organizationId: string;
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly status: string;
  readonly amount: string;
  readonly token: string;
  readonly tokenDecimals: number;
  readonly paymentAmount: string;
  readonly paymentWorth: string;
  readonly currency: string;
  readonly currencyDecimals: number;
  readonly network: string;
  readonly address: Address;
  readonly hash: string | null;
  readonly paymentHash: string;
  readonly requestedBy: string;
  readonly reason: string | null;
  readonly createdAt: Instant;
  readonly sentAt: Instant | null;
  readonly confirmedAt: Instant | null;
}

export const refundExport = exportOf<Row>()({
  kind: "refund",
  columns: {
    id: "The refund's id.",
    organizationId: "The merchant.",
    invoiceId: "The invoice of the payment.",
    paymentId: "The payment that is refunded.",
    status: "The status now. Money was sent if it is `sent` or `confirmed`.",
    amount: "The amount in tokens.",
    tokenSymbol: "The unit of `amount`.",
    settlementAmount: "The worth of `amount` at the rate of its payment, in `settlementCurrency`.",
    settlementCurrency: "The unit of `settlementAmount`.",
    network: "The network.",
    address: "The recipient.",
    transactionHash: "The transaction that pays it; empty before it is sent.",
    paymentTransactionHash: "The transaction of the payment.",
    requestedBy: "The party that requested it.",
    reason: "The merchant's reason for rejecting it; empty unless it was.",
    createdAt: "Time of the request.",
    sentAt: "Time at which the merchant named the transaction; empty before.",
    confirmedAt: "Time at which its block was final; empty before.",
  },
  select: `SELECT its.id AS "id", its.organization_id AS "organizationId",
      its.invoice_id AS "invoiceId", its.payment_id AS "paymentId", its.status AS "status",
      its.amount AS "amount", its.token AS "token", its.token_decimals AS "tokenDecimals",
      paid.amount AS "paymentAmount", paid.settlement_amount AS "paymentWorth",
      paid.settlement_currency AS "currency", paid.settlement_decimals AS "currencyDecimals",
      its.network AS "network", its.address AS "address", its.transaction_hash AS "hash",
      its.payment_hash AS "paymentHash", its.source AS "requestedBy", its.reason AS "reason",
      its.created_at AS "createdAt", its.sent_at AS "sentAt", its.confirmed_at AS "confirmedAt"
    FROM refunds AS its JOIN payments AS paid ON paid.id = its.payment_id`,
  cells(row, networks) {
    const notation = notationOf(networks, row.network);
    const { currency, currencyDecimals } = row;
    return {
      id: row.id,
      organizationId: row.organizationId,
      invoiceId: row.invoiceId,
      paymentId: row.paymentId,
      status: row.status,
      amount: tokens(row.amount, row.token, row.tokenDecimals),
      tokenSymbol: row.token,
      settlementAmount: settled(worthOf(row), currency, currencyDecimals),
      settlementCurrency: currency,
      network: row.network,
      address: notation.formatAddress(row.address),
      transactionHash: row.hash === null ? null : notation.formatTransactionHash(row.hash),
      paymentTransactionHash: notation.formatTransactionHash(row.paymentHash),
      requestedBy: row.requestedBy,
      reason: row.reason,
      createdAt: moment(row.createdAt),
      sentAt: moment(row.sentAt),
      confirmedAt: moment(row.confirmedAt),
    };
  },
});

/** Returns the refund's share of its payment's worth, rounded half to even. */
function worthOf({ amount, paymentAmount, paymentWorth }: Row): bigint {
  const whole = decodeAmount(paymentAmount);
  if (whole === 0n) return 0n;
  return divideRounded(decodeAmount(amount) * decodeAmount(paymentWorth), whole, "half_even");
}
