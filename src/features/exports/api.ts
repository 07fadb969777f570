import { organization, platform } from "../../http/declare/permissions.ts";
import { operation, type CsvContent, type Group } from "../../http/declare/operation.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { createdTimes } from "../../http/declare/list.ts";
import { id } from "../../http/declare/record.ts";
import { openExport, readExportQuery, tableExports } from "./exports.ts";
import type { ExportName } from "./tables.ts";

const words =
  "Oldest first, in UTF-8 with a line of column names (RFC 4180). `createdFrom` is inclusive, `createdTo` exclusive; the default is everything until now. Amounts are plain decimals with their unit in another column, so that they can be summed. A text that a spreadsheet would take for a formula begins with an apostrophe. The file is sent while it is read: it is complete if the response ends without an error. The audit log records the export.";

/** Declares the CSV export of an organization's list. */
function csvOf(
  name: ExportName,
  declared: {
    readonly id: string;
    readonly group: Group;
    readonly path: `/organizations/{organizationId}/${string}`;
    readonly summary: string;
  },
) {
  return operation({
    ...declared,
    method: "GET",
    description: words,
    access: organization("exports:read"),
    request: { query: createdTimes },
    response: { status: 200, csv: tableExports[name].columns },
    errors: [],
    limit: "exports",
    handle: (app, { context, organizationId, query }) =>
      openExport(app, context, name, { organizationId, ...readExportQuery(query) }),
    present: (content: CsvContent) => content,
  });
}

/** Declares the CSV export of the list of all organizations. */
function csvOfAll(
  name: ExportName,
  {
    command,
    ...declared
  }: {
    readonly id: string;
    readonly path: `/admin/${string}`;
    readonly summary: string;
    /** The command, and the file of its examples. */
    readonly command: { readonly name: string; readonly summary: string; readonly file: string };
  },
) {
  return operation({
    ...declared,
    group: "Admin",
    method: "GET",
    description: `${words} \`organizationId\` selects one organization.`,
    access: platform("platform:read"),
    request: { query: { ...createdTimes, organizationId: id("organization").optional() } },
    response: { status: 200, csv: tableExports[name].columns },
    errors: [],
    limit: "exports",
    handle: (app, { context, query: { organizationId = null, ...times } }) =>
      openExport(app, context, name, { organizationId, ...readExportQuery(times) }),
    present: (content: CsvContent) => content,
    cli: {
      name: command.name,
      summary: command.summary,
      flags: {
        createdFrom: { name: "from" },
        createdTo: { name: "to", description: "created before this time (default: now)" },
      },
      examples: [
        `till ${command.name} > ${command.file}`,
        `till ${command.name} --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --from 2031-01-01T00:00:00.000Z --to 2031-02-01T00:00:00.000Z --output ${command.file}`,
      ],
      columns: [],
    },
  });
}

const exportOperations = [
  csvOf("invoices", {
    id: "exportInvoices",
    group: "Invoices",
    path: "/organizations/{organizationId}/invoices.csv",
    summary: "Export invoices as CSV",
  }),
  csvOf("payments", {
    id: "exportPayments",
    group: "Payments",
    path: "/organizations/{organizationId}/payments.csv",
    summary: "Export payments as CSV",
  }),
  csvOf("refunds", {
    id: "exportRefunds",
    group: "Payments",
    path: "/organizations/{organizationId}/refunds.csv",
    summary: "Export refunds as CSV",
  }),
  csvOf("platform_invoices", {
    id: "exportPlatformInvoices",
    group: "Billing",
    path: "/organizations/{organizationId}/billing/invoices.csv",
    summary: "Export the organization's platform invoices as CSV",
  }),
  csvOfAll("invoices", {
    id: "adminExportInvoices",
    path: "/admin/invoices.csv",
    summary: "Export the invoices of all organizations as CSV",
    command: {
      name: "invoice export",
      summary: "Export invoices as CSV",
      file: "invoices.csv",
    },
  }),
  csvOfAll("payments", {
    id: "adminExportPayments",
    path: "/admin/payments.csv",
    summary: "Export the payments of all organizations as CSV",
    command: {
      name: "payments export",
      summary: "Export payments as CSV",
      file: "payments.csv",
    },
  }),
  csvOfAll("refunds", {
    id: "adminExportRefunds",
    path: "/admin/refunds.csv",
    summary: "Export the refunds of all organizations as CSV",
    command: {
      name: "refund export",
      summary: "Export refunds as CSV",
      file: "refunds.csv",
    },
  }),
  csvOfAll("platform_invoices", {
    id: "adminExportPlatformInvoices",
    path: "/admin/billing/invoices.csv",
    summary: "Export the platform invoices of all organizations as CSV",
    command: {
      name: "billing export",
      summary: "Export platform invoices as CSV",
      file: "platform-invoices.csv",
    },
  }),
];

export const exportsModule: FeatureModule = {
  operations: exportOperations,
};
