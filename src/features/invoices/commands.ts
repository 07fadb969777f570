import { command, neededOrganization, section } from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";

export const invoiceCommands = [
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
