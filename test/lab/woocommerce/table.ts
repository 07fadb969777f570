import type { Case } from "./case.ts";
import { pairs } from "./parts.ts";
import { checkouts, storages } from "./shop.ts";

/** The results by case, and by versions, storage and checkout. */
export interface Table {
  set(one: Case, column: string, result: string): void;
  held(): number;
  failures(): number;
  text(): string;
}

/** The mark of a case that is not tried. */
const none = "·";

export function createTable(cases: readonly Case[]): Table {
  const columns = pairs.flatMap(({ name }) =>
    storages.flatMap((storage) => checkouts.map((checkout) => `${name} ${storage} ${checkout}`)),
  );
  const results = new Map<string, string>();
  const key = ({ name }: Case, column: string) => `${name}\n${column}`;
  const failures = () => [...results.values()].filter((result) => result === "FAILED").length;
  return {
    set(one, column, result) {
      results.set(key(one, column), result);
    },
    held: () => results.size - failures(),
    failures,
    text() {
      const tried = columns.filter((column) => cases.some((one) => results.has(key(one, column))));
      const rows = [
        ["case", ...tried],
        ...cases.map((one) => [
          one.name,
          ...tried.map((each) => results.get(key(one, each)) ?? none),
        ]),
      ];
      const widths = ["", ...tried].map((_none, place) =>
        Math.max(...rows.map((row) => (row[place] ?? "").length)),
      );
      const lines = rows.map((row) =>
        row
          .map((cell, place) => cell.padEnd(widths[place] ?? 0))
          .join("  ")
          .trimEnd(),
      );
      const sum = `${String(results.size - failures())} of ${String(results.size)} held`;
      return [...lines, sum].join("\n");
    },
  };
}
