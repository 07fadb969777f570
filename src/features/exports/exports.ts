import type { App } from "../../app.ts";
import type { CsvContent } from "../../http/declare/operation.ts";
import { momentOf } from "../../http/declare/list.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import type { CsvCell } from "../../kernel/csv.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import { platformOrganizationId } from "../organizations/store.ts";
import {
  invoiceExport,
  paymentExport,
  platformInvoiceExport,
  refundExport,
  type ExportedRow,
  type ExportName,
  type TableExport,
} from "./tables.ts";

export const tableExports: Readonly<Record<ExportName, TableExport>> = {
  invoices: invoiceExport,
  payments: paymentExport,
  refunds: refundExport,
  platform_invoices: platformInvoiceExport,
};

/** Rows that are read, and kept in memory, at a time. */
const pageRows = 500;

interface ExportFilters {
  /** Null for all organizations. */
  readonly organizationId: Id<"organization"> | null;
  /** Creation time, inclusive. */
  readonly createdFrom?: Instant | undefined;
  /** Creation time, exclusive. Default: now. */
  readonly createdTo?: Instant | undefined;
}

/** Converts the times of a query. */
export function readExportQuery({
  createdFrom,
  createdTo,
}: {
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
}): Pick<ExportFilters, "createdFrom" | "createdTo"> {
  return { createdFrom: momentOf(createdFrom), createdTo: momentOf(createdTo) };
}

/**
 * Records in the audit log that a list is exported, and returns its content, oldest first. The rows are read while they
 * are consumed, a page at a time, so each has the values of that moment; rows that are created later are left out.
 */
export async function openExport(
  app: App,
  context: WriteContext,
  name: ExportName,
  { organizationId, createdFrom = 0, createdTo }: ExportFilters,
): Promise<CsvContent> {
  const { db, clock, journal } = app;
  const before = createdTo ?? clock.now() + 1;
  const subjectId = organizationId ?? (await platformOrganizationId(db)) ?? "-";
  await db.write(context, (tx) => {
    journal.record(tx, clock.now(), {
      organizationId,
      subjectType: "organization",
      subjectId,
      action: `${name}.exported`,
      changes: {
        createdFrom: createdFrom === 0 ? null : toIso(createdFrom),
        createdTo: toIso(before),
        isOfAllOrganizations: organizationId === null,
      },
    });
    return Promise.resolve();
  });
  const table = tableExports[name];
  return {
    head: Object.keys(table.columns),
    pages: readPages(app, table, organizationId, createdFrom, before),
    fileName: `${name.replaceAll("_", "-")}.csv`,
  };
}

async function* readPages(
  { db, networks, stopping }: App,
  { kind, columns, select, cells }: TableExport,
  organizationId: Id<"organization"> | null,
  from: Instant,
  before: Instant,
): AsyncGenerator<readonly (readonly CsvCell[])[]> {
  const names = Object.keys(columns);
  const scope = organizationId === null ? "" : "its.organization_id = $3 AND ";
  const sql = `${select} WHERE ${scope}its.id > $1 AND its.id < $2 ORDER BY its.id LIMIT ${String(pageRows)}`;
  const end = idFloor(kind, before);
  let last: string = idFloor(kind, from);
  for (;;) {
    stopping.throwIfAborted();
    const values: SqlValue[] = [last, end, ...(organizationId === null ? [] : [organizationId])];
    const rows = await db.all<ExportedRow>(sql, values);
    yield rows.map((row) => {
      const shown = cells(row, networks.known);
      return names.map((name) => shown[name] ?? null);
    });
    const next = rows.at(-1)?.id;
    if (next === undefined || rows.length < pageRows) return;
    last = next;
  }
}
