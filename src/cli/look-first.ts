import type { AnyColumn, Change, Looked } from "../http/declare/command.ts";
import type { WriteContext } from "../platform/database/database.ts";
import { cellsOf, titleOf } from "./terminal/columns.ts";
import { printable, type Terminal } from "./terminal/terminal.ts";

/**
 * Shows on standard error what a write is about and what it changes, before the question or with a dry run.
 * @param after the record that the write would show; null if it cannot be tried out
 */
export function printPreview(
  { surroundings }: Terminal,
  columns: readonly AnyColumn[],
  looked: Looked,
  after: unknown,
): void {
  const facts = (looked.facts ?? []).filter(([, value]) => value !== null && value !== "");
  const changes = after === null ? [] : changesOf(columns, looked, after);
  const lines = [
    looked.subject.charAt(0).toUpperCase() + looked.subject.slice(1),
    ...aligned([
      ...facts.map(([title, value]) => [title, shown(value)] as const),
      ...changes.map(
        ([title, before, value]) => [title, `${shown(before)} → ${shown(value)}`] as const,
      ),
    ]),
  ];
  surroundings.stderr.write(`${lines.map(printable).join("\n")}\n`);
}

/** Returns the declared changes, or the columns whose cells differ. */
function changesOf(
  columns: readonly AnyColumn[],
  looked: Looked,
  after: unknown,
): readonly Change[] {
  if (looked.changes !== undefined) return looked.changes(after as never);
  if (!("before" in looked)) return [];
  const { before } = looked;
  return columns.flatMap((column): Change[] => {
    const [was = "", is = ""] = cellsOf(column, [before, after], ", ");
    return was === is ? [] : [[titleOf(column), was, is]];
  });
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([title]) => title.length));
  return rows.map(([title, value]) => `  ${title.padEnd(width)}  ${value}`);
}

function shown(value: Change[1]): string {
  return cellsOf({ title: "", value: () => value }, [null], ", ")[0] ?? "";
}

/** A dry run: writes run with all their checks and are then rolled back. */
export interface Trial {
  readonly finish: NonNullable<WriteContext["finish"]>;
  /** Returns the result of a write that `finish` rolled back. */
  resultOf(work: Promise<unknown>): Promise<unknown>;
}

export function makeTrial(): Trial {
  return {
    finish: (_tx, result): never => {
      throw new TriedOut(result);
    },
    async resultOf(work) {
      try {
        return await work;
      } catch (error) {
        if (error instanceof TriedOut) return error.result;
        throw error;
      }
    },
  };
}

/** Carries the result of a dry run out of its transaction; throwing it rolls the transaction back. */
class TriedOut extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("dry run");
    this.result = result;
  }
}
