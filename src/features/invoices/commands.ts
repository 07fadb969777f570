import { commandsOf, neededOrganization, pageFlags } from "../../api/command.ts";
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
        description: "invoices of one status only, such as draft, open, paid or expired",
      },
      { flags: "--customer-id <id>", description: "invoices to one customer only" },
      { flags: "--external-id <text>", description: "the invoice with an id of your own" },
      {
        flags: "--created-from <time>",
        description: "from then on, such as 2031-01-31T00:00:00.000Z",
      },
      { flags: "--created-to <time>", description: "before then" },
      ...pageFlags,
    ],
    examples: [
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till invoice list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status open --json",
    ],
    effect: "read",
    async handle(service, call) {
      const { InvoiceQuery, withCreationTimes } = await import("./records.ts");
      const query = call.parse(InvoiceQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        status: call.flag("status"),
        customerId: call.flag("customer-id"),
        externalId: call.flag("external-id"),
        createdFrom: call.flag("created-from"),
        createdTo: call.flag("created-to"),
      });
      const organizationId = call.flag("organization") as Id<"organization">;
      return service.list(organizationId, withCreationTimes(query));
    },
    async present(page) {
      return (await import("./present.ts")).presentInvoices(page);
    },
    columns: [
      { title: "ID", value: (invoice) => invoice.id },
      { title: "STATUS", value: (invoice) => invoice.status },
      { title: "AMOUNT", value: (one) => `${one.amount} ${one.settlementCurrency}` },
      { title: "PAID", value: (one) => `${one.paidAmount} ${one.settlementCurrency}` },
      { title: "TOKEN", value: (invoice) => invoice.tokenSymbol },
      { title: "NETWORK", value: (invoice) => invoice.network },
      { title: "EXTERNAL ID", value: (invoice) => invoice.externalId },
      { title: "CREATED", value: (invoice) => invoice.createdAt },
    ],
  }),
  command({
    name: "invoice show",
    summary: "Show an invoice, whosever it is",
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
      { title: "Invoice", value: (invoice) => invoice.id },
      { title: "Status", value: (invoice) => invoice.status },
      { title: "Exception", value: (invoice) => invoice.exception },
      { title: "Amount", value: (one) => `${one.amount} ${one.settlementCurrency}` },
      { title: "Paid", value: (one) => `${one.paidAmount} ${one.settlementCurrency}` },
      { title: "To pay", value: (one) => tokens(one.payableAmount, one.tokenSymbol) },
      { title: "Still to pay", value: (one) => tokens(one.remainingAmount, one.tokenSymbol) },
      { title: "Network", value: (invoice) => invoice.network },
      { title: "Address", value: (invoice) => invoice.walletAddress },
      {
        title: "Confirmations",
        value: ({ confirmationProgress: { current, required } }) =>
          `${String(current)}/${String(required)}`,
      },
      { title: "Transactions", value: (invoice) => invoice.transactionHashes.join(", ") },
      { title: "Checkout", value: (invoice) => invoice.checkoutUrl },
      { title: "Customer", value: (invoice) => invoice.customerId },
      { title: "External id", value: (invoice) => invoice.externalId },
      { title: "Description", value: (invoice) => invoice.description },
      { title: "Created", value: (invoice) => invoice.createdAt },
      { title: "Expires", value: (invoice) => invoice.expiresAt },
      { title: "Paid at", value: (invoice) => invoice.paidAt },
    ],
  }),
];

function tokens(amount: string | null, symbol: string): string | null {
  return amount === null ? null : `${amount} ${symbol}`;
}
