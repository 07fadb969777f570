import type { CsvColumns } from "../../api/declare/csv.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import type { CsvCell } from "../../kernel/csv.ts";
import type { IdKind } from "../../kernel/id.ts";
import { settlementAsset, tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";

/** The lists that can be exported. */
export const exportNames = ["invoices", "payments", "refunds", "platform_invoices"] as const;
export type ExportName = (typeof exportNames)[number];

/** How to export a list: its columns, and the rows of the store from which they are made. */
export interface TableExport {
  readonly kind: IdKind;
  readonly columns: CsvColumns;
  /** `SELECT … FROM … AS its` without conditions. It selects the id as `id`. */
  readonly select: string;
  /** Returns a cell for each column. Object literals without spreads: those would take ten times as long as all else. */
  readonly cells: (
    row: ExportedRow,
    networks: ReadonlyMap<string, Network>,
  ) => Readonly<Record<string, CsvCell>>;
}

export interface ExportedRow {
  readonly id: string;
}

/** Declares an export of the rows that its `select` describes; the cells must have the names of the columns. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it types the parameter of `cells`
export function exportOf<Row extends ExportedRow>() {
  return function tableExport<Columns extends CsvColumns>(declared: {
    readonly kind: IdKind;
    readonly columns: Columns;
    readonly select: string;
    readonly cells: (
      row: Row,
      networks: ReadonlyMap<string, Network>,
    ) => { readonly [Name in keyof Columns]: CsvCell };
  }): TableExport {
    // The store returns the rows that `select` describes.
    return declared as unknown as TableExport;
  };
}

/** Formats a stored amount of tokens; null stays null. */
export function tokens(stored: string | null, symbol: string, decimals: number): CsvCell {
  if (stored === null) return null;
  return tokenUnits(decodeAmount(stored), symbol, decimals);
}

/** Formats an amount of tokens. */
export function tokenUnits(units: bigint, symbol: string, decimals: number): string {
  return formatMoney(money(units, tokenAsset(symbol, decimals)));
}

/** Formats an amount in a settlement currency. */
export function settled(units: bigint, currency: string, decimals: number): string {
  return formatMoney(money(units, settlementAsset(currency, decimals)));
}

export function moment(at: Instant | null): CsvCell {
  return at === null ? null : toIso(at);
}
