import { organization } from "../../api/declare/access.ts";
import type { CsvContent } from "../../api/declare/csv.ts";
import { operationsOf, type Group } from "../../api/declare/operation.ts";
import { exportQuery, readExportQuery } from "./query.ts";
import { tableExports, type ExportService } from "./service.ts";
import type { ExportName } from "./table-export.ts";

const operation = operationsOf<ExportService>();

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
    access: organization("organization:read"),
    request: { query: exportQuery },
    response: { status: 200, csv: tableExports[name].columns },
    errors: [],
    limit: "exports",
    handle: (service, { context, organizationId, query }) =>
      service.open(context, name, { organizationId, ...readExportQuery(query) }),
    present: (content: CsvContent) => content,
  });
}

export const exportOperations = [
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
];
