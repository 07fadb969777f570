import type { Dialect, Reader } from "./database.ts";
import type { SqlValue } from "./table.ts";

/** A row that should not be as it is. */
export interface Violation {
  /** The row's id, or what stands for it. */
  readonly row: string;
  /** What is wrong with it, as a sentence. */
  readonly fault: string;
}

/**
 * Something that always holds in a store that only Till has written. It reads and never writes; it names at most
 * `violationsMax` rows, and reads big tables in batches.
 */
export interface Check {
  /** Dotted, such as `payments.within-transfer`. */
  readonly name: string;
  /** What holds, as a sentence. */
  readonly describe: string;
  /** What to do about a row that breaks it. */
  readonly advice: string;
  run(reader: Reader): Promise<readonly Violation[]>;
}

/** Rows that a check names: the first show what is wrong, and a broken table does not fill the terminal. */
export const violationsMax = 100;

type Told = Omit<Check, "run">;

/** A check that is a statement: it selects `row`, and `fault` where the sentence depends on it. */
export function queryCheck(
  told: Told & {
    readonly sql: string | Readonly<Record<Dialect, string>>;
    /** Of every row that the statement gives without its own. */
    readonly fault?: string;
  },
): Check {
  const { sql, fault = told.describe, ...rest } = told;
  return {
    ...rest,
    async run(reader) {
      const text = typeof sql === "string" ? sql : sql[reader.dialect];
      const rows = await reader.all<{ row: string | number; fault?: string }>(
        `${text} LIMIT ${String(violationsMax)}`,
      );
      return rows.map((found) => ({ row: String(found.row), fault: found.fault ?? fault }));
    },
  };
}

/** How a check looks at the rows of one table: in the order of their ids and in batches. */
export interface BatchedWalk<Row extends { readonly id: string }> {
  /** The rows after an id, in the order of their ids; an empty batch ends the walk. */
  readonly batch: (reader: Reader, after: string) => Promise<readonly Row[]>;
  readonly faultsOf: (reader: Reader, rows: readonly Row[]) => Promise<readonly Violation[]>;
}

/** A check that looks at rows of one table, in the order of their ids and in batches. */
export function walkCheck<Row extends { readonly id: string }>(
  told: Told & BatchedWalk<Row>,
): Check {
  const { batch, faultsOf, ...rest } = told;
  return { ...rest, run: (reader) => faultsAlong(reader, { batch, faultsOf }) };
}

/** The violations along a walk, at most `violationsMax`. */
export async function faultsAlong<Row extends { readonly id: string }>(
  reader: Reader,
  { batch, faultsOf }: BatchedWalk<Row>,
): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  let after = "";
  while (found.length < violationsMax) {
    const rows = await batch(reader, after);
    const last = rows.at(-1);
    if (last === undefined) break;
    found.push(...(await faultsOf(reader, rows)));
    after = last.id;
  }
  return found.slice(0, violationsMax);
}

/** Rows that a walk reads at once. */
export const walkBatch = 1_000;

/** The first values that differ between two records of figures, for a sentence. */
export function firstDifference(
  stored: Readonly<Record<string, SqlValue | bigint | boolean>>,
  computed: Readonly<Record<string, SqlValue | bigint | boolean>>,
): string | null {
  for (const [name, value] of Object.entries(computed)) {
    if (stored[name] === value) continue;
    return `${name} is ${String(stored[name])} and should be ${String(value)}`;
  }
  return null;
}
