import type * as z from "zod";
import { organization } from "../../http/declare/permissions.ts";
import { section } from "../../http/declare/command.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { money } from "../../http/declare/record.ts";
import type { App } from "../../app.ts";
import type { Id } from "../../kernel/id.ts";
import { gauge, type MetricGroup } from "../../platform/metrics/metrics.ts";
import { paymentOptionsFlag } from "../organizations/option-list.ts";
import { OrganizationNotVerified } from "../organizations/issuing.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import { createInvoiceBatch } from "./batches/batch.ts";
import {
  CreateInvoiceBatchRequest,
  InvoiceBatchRecord,
  presentBatch,
  readItem,
} from "./batches/records.ts";
import { getWalletCapacity, readHoldUse, shareOf } from "./capacity/capacity.ts";
import { presentCapacity, WalletCapacityRecord } from "./capacity/records.ts";
import { invoiceChecks } from "./checks.ts";
import {
  AmountTooLarge,
  AmountTooSmall,
  ExternalIdConflict,
  InvoiceNotCancelable,
  InvoiceNotEditable,
  ManagedByBilling,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  PlanLimitReached,
  RateUnavailable,
  SubscriptionRequired,
  SubscriptionSuspended,
  TokenNotEnabled,
  UnsupportedCurrency,
  WalletCapacityExhausted,
} from "./errors.ts";
import {
  cancelInvoice,
  getAnyInvoice,
  getInvoice,
  listInvoices,
  updateInvoice,
} from "./invoices.ts";
import { createInvoice, type CreatedInvoice } from "./issuing/create.ts";
import {
  CreateInvoiceRequest,
  InvoiceListRecord,
  invoiceQuery,
  InvoiceRecord,
  presentInvoice,
  presentInvoices,
  readInvoiceQuery,
  UpdateInvoiceRequest,
} from "./records.ts";
import { invoiceStatuses } from "./rules.ts";

/** Errors of the terms of a draft, and of its issue. */
const termErrors = [
  OrganizationNotVerified,
  SubscriptionRequired,
  SubscriptionSuspended,
  PlanLimitReached,
  NetworkNotEnabled,
  TokenNotEnabled,
  UnsupportedCurrency,
  AmountTooLarge,
  AmountTooSmall,
  NoDefaultWallet,
  NoWallet,
  WalletCapacityExhausted,
  ExternalIdConflict,
  NetworkNotReady,
  RateUnavailable,
] as const;

/** The columns of an invoice in a terminal. */
const columns = [
  "id",
  "status",
  "exception",
  "amount settlementCurrency",
  "paidAmount settlementCurrency",
  "payableAmount tokenSymbol",
  "remainingAmount tokenSymbol",
  "excessAmount tokenSymbol",
  "owedAmount tokenSymbol",
  "reviewAmount tokenSymbol",
  "network",
  ["walletAddress", "Address"],
  {
    title: "Confirmations",
    value: ({ confirmationProgress: { current, required } }: Shown) =>
      `${String(current)}/${String(required)}`,
  },
  "transactionHashes",
  "checkoutUrl",
  "customerId",
  ["externalId", "External ID"],
  "description",
  "createdAt",
  "expiresAt",
  "lateUntil",
  ["paidAt", "Paid at"],
] as const;

type Shown = z.input<typeof InvoiceRecord>;

/** Lists the options among which the payer may choose, with the amounts and rates of those that were chosen. */
function optionsOf({ paymentOptions }: Shown) {
  if (paymentOptions.length < 2) return [];
  return [
    section({
      title: "Payment options",
      items: paymentOptions,
      columns: [
        "network",
        "tokenSymbol",
        ["payableAmount", "Payable"],
        ["exchangeRate", "Rate"],
        ["walletAddress", "Address"],
        ["isInForce", "In force"],
      ],
    }),
  ];
}

const invoiceOperations = [
  operation({
    id: "listInvoices",
    group: "Invoices",
    method: "GET",
    path: "/organizations/{organizationId}/invoices",
    summary: "List invoices",
    description:
      "Returns the newest invoices first, unless `sort` says otherwise. An invoice must match all filters. `createdFrom` and `paidFrom` are inclusive, `createdTo` and `paidTo` exclusive. Sorting by `paidAt` lists paid invoices only. A page examines a limited number of invoices. If each of several filters matches very many, a page may have fewer items than `limit`, or none; continue with `nextCursor` until it is null.",
    access: organization("invoices:read"),
    request: { query: invoiceQuery },
    response: { status: 200, record: InvoiceListRecord },
    errors: [],
    handle: (app, call) => listInvoices(app, call.organizationId, readInvoiceQuery(call.query)),
    present: presentInvoices,
    cli: {
      name: "invoice list",
      summary: "List an organization's invoices, newest first",
      flags: {
        status: {
          description: "only invoices with this status, or one of several: open,partially_paid",
          choices: invoiceStatuses,
          isList: true,
        },
        walletAddress: { description: "only invoices with this payment address" },
        transactionHash: { description: "only invoices paid by this transaction" },
        metadataKey: {
          placeholder: "key",
          description: "with this key in the metadata (requires --metadata-value)",
        },
        metadataValue: { placeholder: "value", description: "the value of that key" },
        search: { description: "words of the description or customer, or your own id" },
        sort: {
          placeholder: "order",
          description: "createdAt, paidAt or amount; a leading - means descending",
        },
      },
      examples: [
        "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status open --json",
      ],
      columns: [
        "id",
        "status",
        "amount settlementCurrency",
        "paidAmount settlementCurrency",
        "tokenSymbol",
        "network",
        ["externalId", "External ID"],
        "createdAt",
      ],
    },
  }),
  operation({
    id: "createInvoice",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices",
    summary: "Create an invoice",
    description:
      "Issues the invoice at once, or keeps it as a draft. If the invoice cannot be issued, nothing is created. A second request with the same `externalId` and the same body returns the first invoice, with the header Idempotent-Replayed.",
    access: organization("invoices:write"),
    request: { body: CreateInvoiceRequest },
    response: { status: 201, record: InvoiceRecord },
    errors: termErrors,
    handle: (app, call) => createInvoice(app, call.context, call.organizationId, call.body),
    present: ({ invoice }: CreatedInvoice) => presentInvoice(invoice),
    isReplayed: (created) => created.isReplayed,
    cli: {
      name: "invoice create",
      summary: "Create an invoice, and show the code that its payer scans",
      flags: {
        amount: { placeholder: "amount", description: "the price, such as 25.00" },
        tokenSymbol: { description: "such as USDT (default: payment policy)" },
        network: { description: "such as tron (default: payment policy)" },
        paymentOptions: paymentOptionsFlag,
        walletId: { description: "of the receiving wallet (default: the network's)" },
        externalId: { description: "your own number, unique; the payer sees it" },
        expiresInSeconds: null,
        underpaymentTolerance: null,
        metadata: null,
        payerEnteredAmount: { description: "its payer entered the amount in a form of yours" },
      },
      examples: [
        "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 25.00 --settlement-currency USD --token-symbol USDT --network tron",
        "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 25.00 --settlement-currency USD --payment-options 'tron/USDT ethereum/USDC'",
        "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 9.50 --settlement-currency EUR --external-id A-7 --json",
      ],
      columns,
      code: ({ checkoutUrl, status }) => (status === "draft" ? null : checkoutUrl),
      next: (one) => `till invoice show ${one.id}`,
    },
  }),
  operation({
    id: "getInvoice",
    group: "Invoices",
    method: "GET",
    path: "/organizations/{organizationId}/invoices/{invoiceId}",
    summary: "Get an invoice",
    access: organization("invoices:read"),
    response: { status: 200, record: InvoiceRecord },
    errors: [],
    handle: (app, call) => getInvoice(app, call.organizationId, call.params.invoiceId),
    present: presentInvoice,
    cli: {
      name: "invoice show",
      summary: "Show an invoice of any organization",
      organization: "found",
      examples: [
        "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns,
      sections: optionsOf,
    },
  }),
  operation({
    id: "updateInvoice",
    group: "Invoices",
    method: "PATCH",
    path: "/organizations/{organizationId}/invoices/{invoiceId}",
    summary: "Update draft invoice fields, or issue a draft",
    access: organization("invoices:write"),
    request: { body: UpdateInvoiceRequest },
    response: { status: 200, record: InvoiceRecord },
    errors: [InvoiceNotEditable, ManagedByBilling, ...termErrors],
    handle: (app, call) =>
      updateInvoice(
        app,
        call.context,
        call.organizationId,
        call.params.invoiceId,
        call.body,
        call.expect,
      ),
    present: presentInvoice,
  }),
  operation({
    id: "cancelInvoice",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices/{invoiceId}/cancel",
    summary: "Cancel an invoice",
    description:
      "Cancels a draft, or an open or expired invoice without payments. A payment that arrives later waits for the merchant's decision.",
    access: organization("invoices:write"),
    response: { status: 200, record: InvoiceRecord },
    errors: [InvoiceNotCancelable, ManagedByBilling],
    handle: (app, call) =>
      cancelInvoice(app, call.context, call.organizationId, call.params.invoiceId),
    present: presentInvoice,
    cli: {
      name: "invoice cancel",
      summary: "Cancel an invoice without payments",
      organization: "found",
      examples: [
        "till invoice cancel inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till invoice cancel inv_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
      ],
      async look(app, call) {
        const before = presentInvoice(
          await getAnyInvoice(app, call.argument("invoiceId") as Id<"invoice">),
        );
        return {
          subject: `the invoice of ${before.amount} ${before.settlementCurrency} (${before.id}), ${before.status}`,
          facts: [
            ["External ID", before.externalId],
            ["Description", before.description],
            ["Expires", before.expiresAt],
          ],
          before,
        };
      },
      confirm: (_call, subject) => `Cancel ${subject}? Its payer can no longer pay it.`,
      columns,
    },
  }),
  operation({
    id: "createInvoiceBatch",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices/batch",
    summary: "Create up to 100 invoices",
    description:
      "Each invoice needs an `externalId` and gets a result of its own, in the order of the request: a refused invoice does not affect the others. All of them are stored in one transaction, so a failed request has created nothing. Safe to repeat: an invoice that exists is returned as `existing`. A repeated Idempotency-Key returns the first response unchanged, with the refused invoices; to retry those, use a new key. A credential may send 60 batches a minute, which count apart from its other requests. If eight batches of the organization are already waiting, the request gets 429 `rate_limited` and has created nothing; repeat it after `Retry-After`. The body has at most 256 KiB.",
    access: organization("invoices:write"),
    limit: "batch",
    request: { body: CreateInvoiceBatchRequest },
    response: { status: 200, record: InvoiceBatchRecord },
    errors: [],
    handle: (app, call) =>
      createInvoiceBatch(app, call.context, call.organizationId, call.body.invoices.map(readItem)),
    present: presentBatch,
  }),
  operation({
    id: "getWalletCapacity",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/wallets/{walletId}/capacity",
    summary: "Get the number of further invoices that a wallet can tell apart",
    description:
      "An address distinguishes invoices of the same price by small surcharges, whose number is limited. Without `amount`, the result is about the price with the largest used share. An extended key provides an address for each invoice.",
    access: organization("wallets:read"),
    request: {
      query: {
        amount: money()
          .optional()
          .meta({ description: "The price of an invoice: a decimal string in tokens." }),
      },
    },
    response: { status: 200, record: WalletCapacityRecord },
    errors: [],
    handle: (app, call) =>
      getWalletCapacity(app, call.organizationId, call.params.walletId, call.query.amount),
    present: presentCapacity,
  }),
];

/** The highest used share of payment amounts of each enabled network. */
function capacityMetrics(app: App): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_hold_use_ratio",
        "Highest share of payment amounts in use at one address and price; at 1, invoices are refused.",
        "network",
      ),
    ],
    async read() {
      const uses = await readHoldUse(app);
      const shares = new Map(uses.map((use) => [use.network, shareOf(use)]));
      return {
        till_hold_use_ratio: app.config.networks.map(({ id }) => ({
          labels: { network: id },
          value: shares.get(id) ?? 0,
        })),
      };
    },
  };
}

export const invoicesModule: FeatureModule = {
  operations: invoiceOperations,
  checks: invoiceChecks,
  metrics: (app) => [capacityMetrics(app)],
};
