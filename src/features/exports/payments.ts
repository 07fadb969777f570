import type { Instant } from "../../kernel/clock.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import type { Address } from "../../platform/chain/client.ts";
import { notationOf } from "../../platform/chain/networks.ts";
import { moment, settled, exportOf, tokens } from "./table-export.ts";

interface Row {
  readonly id: string;
  readonly organizationId: string;
  readonly invoiceId: string;
  readonly status: string;
  readonly amount: string;
  readonly token: string;
  readonly tokenDecimals: number;
  readonly rounding: string;
  readonly worth: string;
  readonly currency: string;
  readonly currencyDecimals: number;
  readonly exchangeRate: string | null;
  readonly refunded: string;
  readonly network: string;
  readonly hash: string;
  readonly from: Address;
  readonly to: Address;
  readonly blockNumber: number;
  readonly blockTime: Instant;
  readonly createdAt: Instant;
  readonly confirmedAt: Instant | null;
}

export const paymentExport = exportOf<Row>()({
  kind: "payment",
  columns: {
    id: "The payment's id.",
    organizationId: "The merchant.",
    invoiceId: "The invoice for which it counts.",
    status: "The status now. Only `confirming` and `confirmed` payments count.",
    amount: "The amount in tokens.",
    refundedAmount: "The sum of its refunds that are sent or confirmed, in tokens.",
    tokenSymbol: "The unit of `amount`, `refundedAmount` and `roundingAmount`.",
    settlementAmount:
      "The worth of `amount` and `roundingAmount` at the rate of its invoice, in `settlementCurrency`: what it adds to the invoice's `paidAmount` if it counts.",
    settlementCurrency: "The unit of `settlementAmount`.",
    exchangeRate: "Tokens for one unit of `settlementCurrency`; empty if it was not recorded.",
    network: "The network.",
    transactionHash: "The transaction, as the network's explorers show it.",
    fromAddress: "The sender.",
    toAddress: "The address that received it.",
    blockNumber: "The block that contains it.",
    blockTime: "The time of the block.",
    createdAt: "Time at which Till recorded it.",
    confirmedAt: "Time at which it had its confirmations; empty before.",
    roundingAmount:
      "The tokens that were missing when it completed its invoice and that count as paid, because nobody can send so little.",
  },
  select: `SELECT its.id AS "id", its.organization_id AS "organizationId",
      its.invoice_id AS "invoiceId", its.status AS "status", its.amount AS "amount",
      its.token AS "token", its.token_decimals AS "tokenDecimals",
      its.rounding_amount AS "rounding", its.settlement_amount AS "worth", its.settlement_currency AS "currency",
      its.settlement_decimals AS "currencyDecimals", its.exchange_rate AS "exchangeRate",
      its.refunded AS "refunded", its.network AS "network", its.transaction_hash AS "hash",
      transfers.from_address AS "from", transfers.to_address AS "to",
      its.block_height AS "blockNumber", its.block_time AS "blockTime",
      its.created_at AS "createdAt", its.confirmed_at AS "confirmedAt"
    FROM payments AS its JOIN transfers ON transfers.id = its.transfer_id`,
  cells(row, networks) {
    const notation = notationOf(networks, row.network);
    const { token, tokenDecimals, currency, currencyDecimals } = row;
    return {
      id: row.id,
      organizationId: row.organizationId,
      invoiceId: row.invoiceId,
      status: row.status,
      amount: tokens(row.amount, token, tokenDecimals),
      refundedAmount: tokens(row.refunded, token, tokenDecimals),
      tokenSymbol: token,
      settlementAmount: settled(decodeAmount(row.worth), currency, currencyDecimals),
      settlementCurrency: currency,
      exchangeRate: row.exchangeRate,
      network: row.network,
      transactionHash: notation.formatTransactionHash(row.hash),
      fromAddress: notation.formatAddress(row.from),
      toAddress: notation.formatAddress(row.to),
      blockNumber: String(row.blockNumber),
      blockTime: moment(row.blockTime),
      createdAt: moment(row.createdAt),
      confirmedAt: moment(row.confirmedAt),
      roundingAmount: tokens(row.rounding, token, tokenDecimals),
    };
  },
});
