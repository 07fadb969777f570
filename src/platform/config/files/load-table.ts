import { readText } from "./files.ts";
import type { ParsedFile } from "./parse-yaml.ts";
import { findKeptTable, keyOfTable } from "./kept-tables.ts";
import type { Reading } from "./config-report.ts";

/** A YAML file with one of the tables: networks, plans or rates. */
export interface TableFile<T> {
  readonly path: string;
  /** The setting to report if the file cannot be read; by default the path. */
  readonly name?: string;
  readonly kind: "networks" | "plans" | "rates";
  /** Everything apart from the file that the parser reads. */
  readonly context?: string;
  /** Imports its parser when it is called, because building a schema is the slowest part of reading settings. */
  readonly parse: (text: string) => Promise<ParsedFile<T>>;
  /** How the build keeps the table, if it contains functions. */
  readonly kept?: {
    readonly pack: (table: T) => Promise<unknown>;
    readonly unpack: (kept: unknown) => Promise<T>;
  };
}

/** Loads a table, as the build has kept it if the file is the same; null if the file is invalid. */
export async function loadTable<T>(
  { path, name = path, kind, context, parse, kept }: TableFile<T>,
  reading: Reading,
): Promise<T | null> {
  const text = await reading.attempt(name, () => readText(path));
  if (text === null) return null;
  const found = await findKeptTable(keyOfTable(kind, text, context));
  if (found !== null) return kept === undefined ? (found as T) : kept.unpack(found);
  const parsed = await parse(text);
  if (parsed.ok) return parsed.value;
  for (const { path: entry, line, message } of parsed.problems) {
    const at = `${path}:${String(line)}`;
    reading.problems.push({ name: entry === "" ? at : `${entry} in ${at}`, message });
  }
  return null;
}

/** Parses a table for `loadTable` to find; returns its key and the table. @throws Error if the file is invalid */
export async function parseToKeep<T>({
  path,
  kind,
  context,
  parse,
  kept,
}: TableFile<T>): Promise<readonly [key: string, table: unknown, parsed: T]> {
  const text = await readText(path);
  const parsed = await parse(text);
  if (!parsed.ok) throw new Error(`${path} is invalid: ${JSON.stringify(parsed.problems)}`);
  const { value } = parsed;
  const table = kept === undefined ? value : await kept.pack(value);
  return [keyOfTable(kind, text, context), table, value];
}
