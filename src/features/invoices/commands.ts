import type { App } from "../../app.ts";
import { invoiceSorts } from "./search/filters.ts";
import { invoiceStatuses } from "./rules.ts";
import {
  commandsOf,
  neededOrganization,
  pageFlags,
  section,
  type Column,
  type CommandArgument,
  type CommandCall,
} from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import {
  paymentOptionsFlag,
  readOptionFlag,
} from "../organizations/checkout-policy/option-list.ts";
import type { InvoiceView } from "./records.ts";
import type { CreatedInvoice } from "./issuing/create.ts";

const command = commandsOf<App>();

type Shown = Awaited<ReturnType<typeof present>>;

const invoiceId: CommandArgument = {
  name: "invoiceId",
  description: "such as inv_01h…, or your externalId",
};

const columns: readonly Column<Shown>[] = [
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
    value: ({ confirmationProgress: { current, required } }) =>
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
];

export const invoiceCommands = [
  command({
    name: "invoice list",
    summary: "List an organization's invoices, newest first",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "with this status, or one of several: open,partially_paid",
        choices: invoiceStatuses,
        isList: true,
      },
      { flags: "--network <id>", description: "on this network, such as tron" },
      { flags: "--token-symbol <symbol>", description: "payable in this token, such as USDT" },
      {
        flags: "--settlement-currency <code>",
        description: "with this settlement currency, such as USD",
      },
      { flags: "--wallet-id <id>", description: "of this wallet" },
      { flags: "--wallet-address <address>", description: "with this payment address" },
      { flags: "--customer-id <id>", description: "of this customer" },
      {
        flags: "--external-id <text>",
        description: "the invoice with this id from your own system",
      },
      { flags: "--transaction-hash <hash>", description: "paid by this transaction" },
      {
        flags: "--metadata-key <key>",
        description: "with this key in the metadata (requires --metadata-value)",
      },
      { flags: "--metadata-value <value>", description: "the value of that key" },
      {
        flags: "--search <text>",
        description: "words of the description or customer, or your own id",
      },
      {
        flags: "--created-from <time>",
        description: "created at or after this time, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "created before this time" },
      { flags: "--paid-from <time>", description: "paid at or after this time" },
      { flags: "--paid-to <time>", description: "paid before this time" },
      {
        flags: "--sort <order>",
        description: "createdAt, paidAt or amount; a leading - means descending",
        choices: invoiceSorts,
      },
      ...pageFlags,
    ],
    examples: [
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status open --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { listInvoices } = await import("./invoices.ts");
      const { InvoiceQuery, readInvoiceQuery } = await import("./records.ts");
      const query = call.parse(InvoiceQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        status: call.flag("status"),
        network: call.flag("network"),
        tokenSymbol: call.flag("token-symbol"),
        settlementCurrency: call.flag("settlement-currency"),
        walletId: call.flag("wallet-id"),
        walletAddress: call.flag("wallet-address"),
        customerId: call.flag("customer-id"),
        externalId: call.flag("external-id"),
        transactionHash: call.flag("transaction-hash"),
        metadataKey: call.flag("metadata-key"),
        metadataValue: call.flag("metadata-value"),
        search: call.flag("search"),
        createdFrom: call.flag("created-from"),
        createdTo: call.flag("created-to"),
        paidFrom: call.flag("paid-from"),
        paidTo: call.flag("paid-to"),
        sort: call.flag("sort"),
      });
      const organizationId = call.flag("organization") as Id<"organization">;
      return listInvoices(app, organizationId, readInvoiceQuery(query));
    },
    async present(page) {
      return (await import("./records.ts")).presentInvoices(page);
    },
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
  }),
  command({
    name: "invoice show",
    summary: "Show an invoice of any organization",
    arguments: [invoiceId],
    examples: [
      "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: shown,
    present,
    columns,
    sections: optionsOf,
  }),
  command({
    name: "invoice create",
    summary: "Create an invoice, and show the code that its payer scans",
    flags: [
      neededOrganization,
      { flags: "--amount <amount>", description: "the price, such as 25.00", ask: "The price" },
      {
        flags: "--settlement-currency <code>",
        description: "of the price, such as USD",
        ask: "The currency",
      },
      { flags: "--token-symbol <symbol>", description: "such as USDT (default: payment policy)" },
      { flags: "--network <id>", description: "such as tron (default: payment policy)" },
      paymentOptionsFlag,
      { flags: "--wallet-id <id>", description: "of the receiving wallet" },
      { flags: "--customer-id <id>", description: "of the customer who pays" },
      { flags: "--external-id <text>", description: "your own number, unique; the payer sees it" },
      { flags: "--description <text>", description: "of the purchase, for the payer" },
      { flags: "--redirect-url <url>", description: "the page to which the payer returns" },
      { flags: "--draft", description: "keep it as a draft that is not issued" },
      {
        flags: "--payer-entered-amount",
        description: "its payer entered the amount in a form of yours",
      },
    ],
    examples: [
      "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 25.00 --settlement-currency USD --token-symbol USDT --network tron",
      "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 25.00 --settlement-currency USD --payment-options 'tron/USDT ethereum/USDC'",
      "till invoice create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 9.50 --settlement-currency EUR --external-id A-7 --json",
    ],
    effect: "write",
    async handle(app, call) {
      const { createInvoice } = await import("./issuing/create.ts");
      const { CreateInvoiceRequest } = await import("./records.ts");
      return createInvoice(
        app,
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(CreateInvoiceRequest, {
          amount: call.flag("amount"),
          settlementCurrency: call.flag("settlement-currency"),
          tokenSymbol: call.flag("token-symbol"),
          network: call.flag("network"),
          paymentOptions: readOptionFlag(call),
          walletId: call.flag("wallet-id"),
          customerId: call.flag("customer-id"),
          externalId: call.flag("external-id"),
          description: call.flag("description"),
          redirectUrl: call.flag("redirect-url"),
          draft: call.isSet("draft") ? true : undefined,
          payerEnteredAmount: call.isSet("payer-entered-amount") ? true : undefined,
        }),
      );
    },
    present: ({ invoice }: CreatedInvoice) => present(invoice),
    columns,
    code: ({ checkoutUrl, status }) => (status === "draft" ? null : checkoutUrl),
    next: (one) => `till invoice show ${one.id}`,
  }),
  command({
    name: "invoice cancel",
    summary: "Cancel an invoice without payments",
    arguments: [invoiceId],
    examples: [
      "till invoice cancel inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice cancel inv_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    async look(app, call) {
      const before = await present(await shown(app, call));
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
    async handle(app, call) {
      const { cancelInvoice } = await import("./invoices.ts");
      const { organizationId } = await shown(app, call);
      return cancelInvoice(app, call.context, organizationId, idOf(call));
    },
    present,
    columns,
  }),
  command({
    name: "invoice import",
    summary: "Create the invoices of a CSV file",
    arguments: [
      {
        name: "file",
        description: "CSV with columns named as the API's fields; - reads standard input",
      },
    ],
    flags: [neededOrganization],
    examples: [
      "till invoice import invoices.csv --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --dry-run",
      "till invoice import - --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e < invoices.csv",
    ],
    effect: "write",
    async handle(app, call) {
      const { createInvoiceBatch } = await import("./batches/batch.ts");
      const { importInvoices } = await import("./batches/import.ts");
      const organizationId = call.flag("organization") as Id<"organization">;
      const text = await call.readText(call.argument("file"));
      return importInvoices(
        (items) => createInvoiceBatch(app, call.context, organizationId, items),
        call,
        text,
      );
    },
    present: ({ report }) => report,
    columns: ["lines", "created", "existing", "refused", "remaining"],
    identify: ({ createdIds }) => createdIds.join("\n"),
    sections: ({ refusals }) => [
      section({
        title: "Refused",
        items: refusals,
        columns: ["line", ["externalId", "External ID"], "column", "message"],
      }),
    ],
    async fault(report, { failure }) {
      return failure ?? (await import("./batches/import.ts")).faultOf(report);
    },
  }),
];

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

async function shown(app: App, call: CommandCall): Promise<InvoiceView> {
  return (await import("./invoices.ts")).getAnyInvoice(app, idOf(call));
}

function idOf(call: CommandCall): Id<"invoice"> {
  return call.argument("invoiceId") as Id<"invoice">;
}

async function present(view: InvoiceView) {
  return (await import("./records.ts")).presentInvoice(view);
}
