import type { CsvColumns } from "../../http/declare/operation.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import type { CsvCell } from "../../kernel/csv.ts";
import type { IdKind } from "../../kernel/id.ts";
import { formatMoney, money, settlementAsset, tokenAsset } from "../../kernel/money/money.ts";
import { divideRounded } from "../../kernel/money/ratio.ts";
import type { Address } from "../../platform/chain/client.ts";
import { notationOf, type Network } from "../../platform/chain/networks.ts";
import { decodeAmount, decodeSignedAmount } from "../../platform/database/schema/table.ts";
import { excessOf, settlementOf } from "../invoices/options/quotes.ts";
import { inReviewOf, owedOf } from "../invoices/settlement/owed.ts";
import type { InvoiceRow } from "../invoices/store.ts";

interface PlatformInvoiceRow {
  readonly id: string;
  readonly number: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly status: string;
  readonly periodStart: Instant;
  readonly periodEnd: Instant;
  readonly subtotal: string;
  readonly discountTotal: string;
  readonly creditTotal: string;
  readonly total: string;
  readonly currency: string;
  readonly decimals: number;
  readonly issuedAt: Instant;
  readonly dueAt: Instant;
  readonly paidAt: Instant | null;
  readonly voidedAt: Instant | null;
}

export const platformInvoiceExport = exportOf<PlatformInvoiceRow>()({
  kind: "platformInvoice",
  columns: {
    id: "The platform invoice's id.",
    number: "Its number; the numbers of an instance have no gaps.",
    organizationId: "The merchant.",
    organizationName: "The merchant's name.",
    status: "The status now.",
    periodStart: "Start of the billing period.",
    periodEnd: "End of the billing period.",
    subtotal: "The sum before discounts and credits; negative if deductions exceed the charges.",
    discountTotal: "The sum of the discounts.",
    creditTotal: "The sum of the credits; negative if the invoice granted one.",
    total: "The amount to pay.",
    currency: "The unit of all amounts.",
    issuedAt: "Time of issue.",
    dueAt: "Time at which it is due.",
    paidAt: "Time at which it was paid; empty unless it is.",
    voidedAt: "Time at which it was voided; empty unless it was.",
  },
  select: `SELECT its.id AS "id", its.number AS "number", its.organization_id AS "organizationId",
      owner.name AS "organizationName", its.status AS "status",
      its.period_start AS "periodStart", its.period_end AS "periodEnd",
      its.subtotal AS "subtotal", its.discount_total AS "discountTotal",
      its.credit_total AS "creditTotal", its.total AS "total", its.currency AS "currency",
      its.decimals AS "decimals", its.issued_at AS "issuedAt", its.due_at AS "dueAt",
      its.paid_at AS "paidAt", its.voided_at AS "voidedAt"
    FROM platform_invoices AS its JOIN organizations AS owner ON owner.id = its.organization_id`,
  cells(row) {
    const shown = (units: bigint) => inSettlementCurrency(units, row.currency, row.decimals);
    return {
      id: row.id,
      number: row.number,
      organizationId: row.organizationId,
      organizationName: row.organizationName,
      status: row.status,
      periodStart: moment(row.periodStart),
      periodEnd: moment(row.periodEnd),
      subtotal: shown(decodeSignedAmount(row.subtotal)),
      discountTotal: shown(decodeAmount(row.discountTotal)),
      creditTotal: shown(decodeSignedAmount(row.creditTotal)),
      total: shown(decodeAmount(row.total)),
      currency: row.currency,
      issuedAt: moment(row.issuedAt),
      dueAt: moment(row.dueAt),
      paidAt: moment(row.paidAt),
      voidedAt: moment(row.voidedAt),
    };
  },
});

interface PaymentRow {
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

export const paymentExport = exportOf<PaymentRow>()({
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
      settlementAmount: inSettlementCurrency(decodeAmount(row.worth), currency, currencyDecimals),
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

interface Row {
  readonly id: string;
  readonly organizationId: string;
  readonly publicId: string;
  readonly externalId: string | null;
  readonly status: InvoiceRow["status"];
  readonly exception: string;
  readonly amount: string;
  readonly currency: string;
  readonly currencyDecimals: number;
  readonly paid: string | null;
  readonly payable: string | null;
  readonly asked: string | null;
  readonly dust: string | null;
  readonly seen: string;
  readonly confirmed: string;
  /** JSON; null if nothing is in review, rejected or refunded. */
  readonly aside: string | null;
  readonly managedBy: InvoiceRow["managedBy"];
  readonly token: string;
  readonly tokenDecimals: number;
  readonly exchangeRate: string | null;
  readonly network: string;
  readonly walletAddress: string | null;
  readonly customerId: string | null;
  readonly description: string | null;
  readonly hashes: string;
  /** JSON; null if there is only one option. */
  readonly options: string | null;
  readonly createdAt: Instant;
  readonly issuedAt: Instant | null;
  readonly expiresAt: Instant | null;
  readonly lateUntil: Instant | null;
  readonly paidAt: Instant | null;
  readonly canceledAt: Instant | null;
}

export const invoiceExport = exportOf<Row>()({
  kind: "invoice",
  columns: {
    id: "The invoice's id.",
    organizationId: "The merchant.",
    publicId: "The short id that the payer sees.",
    externalId: "The merchant's own number; empty without one.",
    status: "The status now.",
    exception: "The reason why it was not paid exactly, or `none`.",
    amount: "The requested amount, in `settlementCurrency`.",
    paidAmount: "The worth of its payments, in `settlementCurrency`.",
    settlementCurrency: "The unit of `amount` and `paidAmount`.",
    payableAmount: "The requested amount in tokens; empty for a draft.",
    paidTokenAmount: "The sum of its payments in tokens.",
    excessAmount:
      "The part of `paidTokenAmount` above the most that the payer was asked for, in tokens.",
    owedAmount:
      "The money that the merchant owes to the payer now, in tokens: see the invoice record.",
    reviewAmount: "The payments that wait for the merchant's decision, in tokens.",
    tokenSymbol: "The unit of the five amounts before it.",
    exchangeRate: "Tokens for one unit of `settlementCurrency`; empty for a draft.",
    network: "The network of the payments.",
    walletAddress: "The address to pay; empty for a draft.",
    customerId: "The customer; empty without one.",
    description: "The purchase in words; empty without any.",
    transactionHashes: "The transactions of its payments, separated by spaces.",
    createdAt: "Time of creation.",
    issuedAt: "Time of issue; empty for a draft.",
    expiresAt: "The deadline; empty for a draft.",
    lateUntil: "The end of the late window; empty for a draft.",
    paidAt: "Time at which it was paid; empty unless it is.",
    canceledAt: "Time at which it was canceled; empty unless it is.",
  },
  select: `SELECT its.id AS "id", its.organization_id AS "organizationId", its.public_id AS "publicId",
      its.external_id AS "externalId", its.status AS "status", its.exception AS "exception",
      its.amount AS "amount", its.settlement_currency AS "currency",
      its.settlement_decimals AS "currencyDecimals", its.paid_amount AS "paid",
      its.payable_amount AS "payable", its.asked_amount AS "asked", its.dust_amount AS "dust", its.seen_amount AS "seen",
      its.confirmed_amount AS "confirmed", its.aside AS "aside", its.managed_by AS "managedBy",
      its.token_symbol AS "token", its.token_decimals AS "tokenDecimals", its.exchange_rate AS "exchangeRate",
      its.network AS "network", its.wallet_address AS "walletAddress",
      its.customer_id AS "customerId", its.description AS "description",
      its.transaction_hashes AS "hashes", its.payment_options AS "options", its.created_at AS "createdAt",
      its.issued_at AS "issuedAt", its.expires_at AS "expiresAt", its.late_until AS "lateUntil",
      its.paid_at AS "paidAt",
      its.canceled_at AS "canceledAt"
    FROM invoices AS its`,
  cells(row) {
    const { currency, currencyDecimals, token, tokenDecimals } = row;
    const amount = decodeAmount(row.amount);
    const payable = row.payable === null ? null : decodeAmount(row.payable);
    const seen = decodeAmount(row.seen);
    const dust = row.dust === null ? null : decodeAmount(row.dust);
    const paid =
      row.paid === null
        ? settlementOf(seen, { amount, payableAmount: payable, dustAmount: dust })
        : decodeAmount(row.paid);
    const terms = {
      status: row.status,
      managedBy: row.managedBy,
      confirmedAmount: decodeAmount(row.confirmed),
      aside: row.aside === null ? null : (JSON.parse(row.aside) as InvoiceRow["aside"]),
      payableAmount: payable,
      dustAmount: dust,
      askedAmount: row.asked === null ? null : decodeAmount(row.asked),
      seenAmount: seen,
      network: row.network,
      tokenSymbol: token,
      paymentOptions:
        row.options === null ? null : (JSON.parse(row.options) as InvoiceRow["paymentOptions"]),
    };
    return {
      id: row.id,
      organizationId: row.organizationId,
      publicId: row.publicId,
      externalId: row.externalId,
      status: row.status,
      exception: row.exception,
      amount: inSettlementCurrency(amount, currency, currencyDecimals),
      paidAmount: inSettlementCurrency(paid, currency, currencyDecimals),
      settlementCurrency: currency,
      payableAmount: tokens(row.payable, token, tokenDecimals),
      paidTokenAmount: tokens(row.seen, token, tokenDecimals),
      excessAmount: tokenUnits(excessOf(terms), token, tokenDecimals),
      owedAmount: tokenUnits(owedOf(terms), token, tokenDecimals),
      reviewAmount: tokenUnits(inReviewOf(terms), token, tokenDecimals),
      tokenSymbol: token,
      exchangeRate: row.exchangeRate,
      network: row.network,
      walletAddress: row.walletAddress,
      customerId: row.customerId,
      description: row.description,
      transactionHashes: (JSON.parse(row.hashes) as string[]).join(" "),
      createdAt: moment(row.createdAt),
      issuedAt: moment(row.issuedAt),
      expiresAt: moment(row.expiresAt),
      lateUntil: moment(row.lateUntil),
      paidAt: moment(row.paidAt),
      canceledAt: moment(row.canceledAt),
    };
  },
});

interface RefundRow {
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

export const refundExport = exportOf<RefundRow>()({
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
      settlementAmount: inSettlementCurrency(worthOf(row), currency, currencyDecimals),
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
function worthOf({ amount, paymentAmount, paymentWorth }: RefundRow): bigint {
  const whole = decodeAmount(paymentAmount);
  if (whole === 0n) return 0n;
  return divideRounded(decodeAmount(amount) * decodeAmount(paymentWorth), whole, "half_even");
}

/** The lists that can be exported. */
const exportNames = ["invoices", "payments", "refunds", "platform_invoices"] as const;
export type ExportName = (typeof exportNames)[number];

/** How to export a list: its columns, and the rows of the store from which they are made. */
export interface TableExport {
  readonly kind: IdKind;
  readonly columns: CsvColumns;
  /** `SELECT … FROM … AS its` without conditions. It selects the id as `id`. */
  readonly select: string;
  /** Returns a cell for each column. Object literals without spreads: those would take ten times as long as all else. */
  readonly cells: (
    row: ExportedRow,
    networks: ReadonlyMap<string, Network>,
  ) => Readonly<Record<string, CsvCell>>;
}

export interface ExportedRow {
  readonly id: string;
}

/** Declares an export of the rows that its `select` describes; the cells must have the names of the columns. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it types the parameter of `cells`
function exportOf<Row extends ExportedRow>() {
  return function tableExport<Columns extends CsvColumns>(declared: {
    readonly kind: IdKind;
    readonly columns: Columns;
    readonly select: string;
    readonly cells: (
      row: Row,
      networks: ReadonlyMap<string, Network>,
    ) => { readonly [Name in keyof Columns]: CsvCell };
  }): TableExport {
    // The store returns the rows that `select` describes.
    return declared as unknown as TableExport;
  };
}

/** Formats a stored amount of tokens; null stays null. */
function tokens(stored: string | null, symbol: string, decimals: number): CsvCell {
  if (stored === null) return null;
  return tokenUnits(decodeAmount(stored), symbol, decimals);
}

/** Formats an amount of tokens. */
function tokenUnits(units: bigint, symbol: string, decimals: number): string {
  return formatMoney(money(units, tokenAsset(symbol, decimals)));
}

/** Formats an amount in a settlement currency. */
function inSettlementCurrency(units: bigint, currency: string, decimals: number): string {
  return formatMoney(money(units, settlementAsset(currency, decimals)));
}

function moment(at: Instant | null): CsvCell {
  return at === null ? null : toIso(at);
}
