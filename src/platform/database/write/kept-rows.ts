import type { RawRow } from "../database.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";

/**
 * The rows that a transaction keeps unchanged, by the SELECT that read them. The writes that share a transaction read
 * each of them once.
 */
export interface KeptRows {
  /** Returns the rows that an identical SELECT kept earlier; otherwise runs it. */
  read(
    sql: string,
    values: readonly SqlValue[],
    run: () => Promise<RawRow[]>,
  ): Promise<readonly RawRow[]>;
  /** Forgets the rows of the tables that a statement of this transaction changes; called before it runs. */
  willChange(sql: string, values: readonly SqlValue[]): void;
}

interface Kept {
  /** The names in the SELECT, those of its tables among them. */
  readonly names: ReadonlySet<string>;
  readonly rows: readonly RawRow[];
}

/** Creates the memory of one transaction. */
export function makeKeptRows(): KeptRows {
  const kept = new Map<string, Kept>();
  let changes = 0;
  return {
    async read(sql, values, run) {
      const key = `${sql}\n${JSON.stringify(values)}`;
      const known = kept.get(key);
      if (known !== undefined) return known.rows;
      const changesBefore = changes;
      const rows = await run();
      // A missing row is not locked: another transaction may insert it.
      if (rows.length > 0 && changes === changesBefore) {
        kept.set(key, { names: statementOf(sql, values).names, rows });
      }
      return rows;
    },
    willChange(sql, values) {
      changes += 1;
      const { changedTables } = statementOf(sql, values);
      if (changedTables.length === 0) kept.clear();
      for (const [key, { names }] of kept) {
        if (changedTables.some((table) => names.has(table))) kept.delete(key);
      }
    },
  };
}
