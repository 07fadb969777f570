import type { CsvContent } from "../../api/declare/csv.ts";
import { bind, type Bound } from "../../kernel/bind.ts";
import { toIso, type Clock, type Instant } from "../../kernel/clock.ts";
import type { CsvCell } from "../../kernel/csv.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import type { Journal } from "../../platform/journal/index.ts";
import { platformOrganizationId } from "../organizations/store.ts";
import { invoiceExport } from "./invoices.ts";
import { paymentExport } from "./payments.ts";
import { platformInvoiceExport } from "./platform-invoices.ts";
import { refundExport } from "./refunds.ts";
import type { ExportedRow, ExportName, TableExport } from "./table-export.ts";

export const tableExports: Readonly<Record<ExportName, TableExport>> = {
  invoices: invoiceExport,
  payments: paymentExport,
  refunds: refundExport,
  platform_invoices: platformInvoiceExport,
};

/** Rows that are read, and kept in memory, at a time. */
const pageRows = 500;

export interface ExportFilters {
  /** Null for all organizations. */
  readonly organizationId: Id<"organization"> | null;
  /** Creation time, inclusive. */
  readonly createdFrom?: Instant | undefined;
  /** Creation time, exclusive. Default: now. */
  readonly createdTo?: Instant | undefined;
}

export interface ExportDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
  /** Every configured network by id. */
  readonly networks: ReadonlyMap<string, Network>;
  /** Aborted when the program stops. */
  readonly stopping: AbortSignal;
}

const methods = { open };
export type ExportService = Bound<typeof methods>;

export function makeExportService(deps: ExportDependencies): ExportService {
  return bind(deps, methods);
}

/**
 * Records in the audit log that a list is exported, and returns its content, oldest first. The rows are read while they
 * are consumed, a page at a time, so each has the values of that moment; rows that are created later are left out.
 */
async function open(
  deps: ExportDependencies,
  context: WriteContext,
  name: ExportName,
  { organizationId, createdFrom = 0, createdTo }: ExportFilters,
): Promise<CsvContent> {
  const { db, clock, journal } = deps;
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
    pages: readPages(deps, table, organizationId, createdFrom, before),
    fileName: `${name.replaceAll("_", "-")}.csv`,
  };
}

async function* readPages(
  { db, networks, stopping }: ExportDependencies,
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
      const shown = cells(row, networks);
      return names.map((name) => shown[name] ?? null);
    });
    const next = rows.at(-1)?.id;
    if (next === undefined || rows.length < pageRows) return;
    last = next;
  }
}
