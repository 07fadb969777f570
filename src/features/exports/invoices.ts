import type { Instant } from "../../kernel/clock.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import { excessOf, settlementOf } from "../invoices/options/quotes.ts";
import { inReviewOf, owedOf } from "../invoices/settlement/owed.ts";
import type { InvoiceRow } from "../invoices/store.ts";
import { moment, settled, exportOf, tokens, tokenUnits } from "./table-export.ts";

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
      amount: settled(amount, currency, currencyDecimals),
      paidAmount: settled(paid, currency, currencyDecimals),
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
