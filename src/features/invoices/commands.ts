import { commandsOf, neededOrganization, pageFlags } from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { InvoiceService } from "./service.ts";

const command = commandsOf<InvoiceService>();

export const invoiceCommands = [
  command({
    name: "invoice list",
    summary: "List an organization's invoices, newest first",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "with this status, or one of several: open,partially_paid",
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
      },
      ...pageFlags,
    ],
    examples: [
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status open --json",
    ],
    effect: "read",
    async handle(service, call) {
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
      return service.list(organizationId, readInvoiceQuery(query));
    },
    async present(page) {
      return (await import("./present.ts")).presentInvoices(page);
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
    arguments: [{ name: "invoiceId", description: "such as inv_01h…" }],
    examples: [
      "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice show inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) => service.find(call.argument("invoiceId") as Id<"invoice">),
    async present(invoice) {
      return (await import("./present.ts")).presentInvoice(invoice);
    },
    columns: [
      "id",
      "status",
      "exception",
      "amount settlementCurrency",
      "paidAmount settlementCurrency",
      "payableAmount tokenSymbol",
      "remainingAmount tokenSymbol",
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
      ["paidAt", "Paid at"],
    ],
  }),
];
