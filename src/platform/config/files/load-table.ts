import { readText } from "./files.ts";
import type { ParsedFile } from "./parse-yaml.ts";
import type { Reading } from "./config-report.ts";

/** A YAML file with one of the tables: networks, plans or rates. */
export interface TableFile<T> {
  readonly path: string;
  /** The setting to report if the file cannot be read; by default the path. */
  readonly name?: string;
  /** Imports its parser when it is called, because building a schema is the slowest part of reading settings. */
  readonly parse: (text: string) => Promise<ParsedFile<T>>;
}

/** Loads a table; null if the file is invalid. */
export async function loadTable<T>(
  { path, name = path, parse }: TableFile<T>,
  reading: Reading,
): Promise<T | null> {
  const text = await reading.attempt(name, () => readText(path));
  if (text === null) return null;
  const parsed = await parse(text);
  if (parsed.ok) return parsed.value;
  for (const { path: entry, line, message } of parsed.problems) {
    const at = `${path}:${String(line)}`;
    reading.problems.push({ name: entry === "" ? at : `${entry} in ${at}`, message });
  }
  return null;
}
