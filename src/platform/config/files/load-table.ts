import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { programFile } from "../../files.ts";
import { readText, readTextIfPresent } from "./files.ts";
import type { ParsedFile, YamlContent } from "./parse-yaml.ts";
import type { Reading } from "./config-report.ts";

/** A YAML file with one of the tables: networks, plans or rates. */
export interface TableFile<T> {
  readonly path: string;
  /** The setting to report if the file cannot be read; by default the path. */
  readonly name?: string;
  readonly parse: (content: YamlContent) => ParsedFile<T>;
}

/** Loads a table; null if the file is invalid. */
export async function loadTable<T>(
  { path, name = path, parse }: TableFile<T>,
  reading: Reading,
): Promise<T | null> {
  const text = await reading.attempt(name, () => readText(path));
  if (text === null) return null;
  const built = await builtContent(text);
  const fromBuild = built === null ? null : parse(built);
  if (fromBuild?.ok === true) return fromBuild.value;
  const { readYaml } = await import("./yaml-content.ts");
  const parsed = parse(readYaml(text));
  if (parsed.ok) return parsed.value;
  for (const { path: entry, line, message } of parsed.problems) {
    const at = `${path}:${String(line)}`;
    reading.problems.push({ name: entry === "" ? at : `${entry} in ${at}`, message });
  }
  return null;
}

/**
 * Returns the content of a file as the build has read it, which it does with those of config/: a command starts faster
 * without the parser of YAML. Null for a file with another text.
 */
async function builtContent(text: string): Promise<YamlContent | null> {
  const name = `${createHash("sha256").update(text).digest("hex")}.json`;
  const json = await readTextIfPresent(fileURLToPath(programFile(`config/${name}`)));
  return json === null ? null : { value: JSON.parse(json), problems: [], lineOf: () => 1 };
}
