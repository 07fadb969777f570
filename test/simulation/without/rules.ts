import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

/** The root of the project. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A change of a source that takes out a rule, or a part of it. */
export interface Change {
  /** From the root of the project. */
  readonly file: string;
  /** Text that occurs once in the file. */
  readonly original: string;
  readonly replacement: string;
}

export interface Rule {
  readonly rule: string;
  /** The behavior of the product. */
  readonly meaning: string;
  readonly changes: readonly Change[];
}

interface WrittenRule extends Omit<Rule, "changes"> {
  readonly changes?: readonly Change[];
  /** Other rules, which are taken out together. */
  readonly includes?: readonly string[];
}

/** The rules of `rules.yaml`. */
export function readRules(): readonly Rule[] {
  const text = readFileSync(join(root, "test/simulation/without/rules.yaml"), "utf8");
  const written = parse(text) as readonly WrittenRule[];
  const changesOf = (name: string) => written.find(({ rule }) => rule === name)?.changes ?? [];
  return written.map(({ rule, meaning, changes = [], includes = [] }) => ({
    rule,
    meaning,
    changes: [...changes, ...includes.flatMap(changesOf)],
  }));
}

/** Returns a source without the text of a change; throws unless the text occurs in it once. */
export function withoutRule(source: string, { file, original, replacement }: Change): string {
  const parts = source.split(original);
  if (parts.length !== 2) {
    throw new Error(`${file} has ${String(parts.length - 1)} times: ${original}`);
  }
  return parts.join(replacement);
}
