import type { Dialect, Reader } from "../database.ts";
import type { SqlValue } from "./table.ts";

/** A row that violates a check. */
export interface Violation {
  /** The row's id or another identifier. */
  readonly row: string;
  /** The violation, as a sentence. */
  readonly fault: string;
}

/**
 * An invariant of a store that only Till writes. A check never writes; it reports at most `violationsMax` rows and
 * reads big tables in batches.
 */
export interface Check {
  /** A dotted name such as `payments.within-transfer`. */
  readonly name: string;
  /** The invariant, as a sentence. */
  readonly describe: string;
  /** Advice for fixing a violation. */
  readonly advice: string;
  run(reader: Reader): Promise<readonly Violation[]>;
}

/** The maximum number of rows that a check reports: a few show the problem without flooding the terminal. */
export const violationsMax = 100;

type CheckDescription = Omit<Check, "run">;

/**
 * Creates a check from an SQL statement. It selects the violating `row`, and `fault` if the sentence differs by row.
 */
export function queryCheck(
  description: CheckDescription & {
    readonly sql: string | Readonly<Record<Dialect, string>>;
    /** The sentence for rows that are selected without a `fault`; by default `describe`. */
    readonly fault?: string;
  },
): Check {
  const { sql, fault = description.describe, ...rest } = description;
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

/** How a check reads a table: in batches, ordered by id. */
export interface BatchedWalk<Row extends { readonly id: string }> {
  /** Returns the rows after an id, ordered by id; an empty batch ends the walk. */
  readonly batch: (reader: Reader, after: string) => Promise<readonly Row[]>;
  readonly faultsOf: (reader: Reader, rows: readonly Row[]) => Promise<readonly Violation[]>;
}

/** Creates a check that reads a table in batches, ordered by id. */
export function walkCheck<Row extends { readonly id: string }>(
  description: CheckDescription & BatchedWalk<Row>,
): Check {
  const { batch, faultsOf, ...rest } = description;
  return { ...rest, run: (reader) => faultsAlong(reader, { batch, faultsOf }) };
}

/** Returns the violations in a table, at most `violationsMax`. */
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

/** Rows per batch. */
export const walkBatch = 1_000;

/** Describes the first difference between two sets of figures; null if they are equal. */
export function firstDifference(
  stored: Readonly<Record<string, SqlValue | bigint | boolean>>,
  computed: Readonly<Record<string, SqlValue | bigint | boolean>>,
): string | null {
  for (const [name, value] of Object.entries(computed)) {
    if (stored[name] === value) continue;
    return `${name} is ${String(stored[name])} but should be ${String(value)}`;
  }
  return null;
}
