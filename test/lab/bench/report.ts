// The report of the bench: a table on the terminal, and a section of docs/performance.md.
import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem, type } from "node:os";
import { fileURLToPath } from "node:url";
import type { Figures } from "./load.ts";

/** A row of a table: figures, and those of Koa with which they are compared. */
export interface Row {
  readonly name: string;
  readonly figures: Figures;
  readonly koa: Figures | null;
}

const page = fileURLToPath(new URL("../../../docs/performance.md", import.meta.url));

const columns: readonly (readonly [
  title: string,
  of: (figures: Figures) => number,
  digits: number,
])[] = [
  ["CPU, main thread (ms)", (each) => each.mainMs, 3],
  ["CPU, other threads (ms)", (each) => each.othersMs, 3],
  ["garbage collection (ms)", (each) => each.gcMs, 3],
  ["statements", (each) => each.statements, 2],
  ["rows inserted", (each) => each.inserted, 2],
  ["rows updated", (each) => each.updated, 2],
  ["rows deleted", (each) => each.deleted, 2],
  ["rate (1/s)", (each) => each.rate, 0],
  ["p50 (ms)", (each) => each.p50, 1],
  ["p99 (ms)", (each) => each.p99, 1],
  ["RSS (MiB)", (each) => each.rss, 0],
];

/** Returns the median of each figure. */
export function medianOf(rounds: readonly Figures[]): Figures {
  const [first] = rounds;
  if (first === undefined) throw new Error("nothing was measured");
  const median = (of: (figures: Figures) => number): number => {
    const sorted = rounds.map(of).sort((left, right) => left - right);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return {
    mainMs: median((each) => each.mainMs),
    othersMs: median((each) => each.othersMs),
    gcMs: median((each) => each.gcMs),
    statements: median((each) => each.statements),
    inserted: median((each) => each.inserted),
    updated: median((each) => each.updated),
    deleted: median((each) => each.deleted),
    rate: median((each) => each.rate),
    p50: median((each) => each.p50),
    p99: median((each) => each.p99),
    rss: median((each) => each.rss),
  };
}

/** Returns a Markdown table with a column for each row's figures, each with its ratio to Koa's. */
export function tableOf(rows: readonly Row[]): string {
  const head = ["per unit of work", ...rows.map(({ name }) => name)];
  const lines = columns.map(([title, of, digits]) => [
    title,
    ...rows.map(({ figures, koa }) => {
      const value = of(figures);
      const ratio = koa === null || of(koa) === 0 ? "" : ` (${(value / of(koa)).toFixed(2)} ×)`;
      return `${value.toFixed(digits)}${ratio}`;
    }),
  ]);
  return [head, head.map(() => "---"), ...lines]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** Describes the machine in one line. */
function machine(): string {
  const [cpu] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  return `${String(cpus().length)} cores (${cpu?.model ?? "unknown"}), ${memory} GiB of memory, ${type()}, Node ${process.version}`;
}

/** Replaces a section of docs/performance.md, between two comments with its name. */
export async function writeSection(name: string, text: string): Promise<void> {
  const [from, to] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`];
  const old = await readFile(page, "utf8");
  const [start, end] = [old.indexOf(from), old.indexOf(to)];
  if (start < 0 || end < start) throw new Error(`docs/performance.md has no section ${name}`);
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${from}\n\nMeasured on ${day} on a machine with ${machine()}.\n\n${text}\n\n`;
  await writeFile(page, old.slice(0, start) + measured + old.slice(end));
}
