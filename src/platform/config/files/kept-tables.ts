import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { once } from "../../once.ts";

/**
 * The parsed and checked tables that the build keeps beside the program: parsing the shipped ones takes commands that
 * only read longer than their work. A program that was not built has none, and a table that is not among them is parsed.
 */
const file = new URL("../../../tables.json", import.meta.url);

/**
 * Returns the key of a parsed table: a digest of everything on which the result depends, apart from the program, which
 * is built together with the kept tables.
 * @param context of the text, if its parser gets more than it
 */
export function keyOfTable(kind: string, text: string, context = ""): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, context, text]))
    .digest("base64url");
}

const keptTables = once(async () => {
  try {
    return readKept(await readFile(file, "utf8"));
  } catch {
    return new Map<string, unknown>();
  }
});

/** Returns the table that the build parsed from the same text; null if it kept no such table. */
export async function findKeptTable(key: string): Promise<unknown> {
  return (await keptTables()).get(key) ?? null;
}

/** Returns tables by their keys as text. */
export function writeKept(tables: ReadonlyMap<string, unknown>): string {
  return JSON.stringify(Object.fromEntries(tables), (_key, value: unknown) =>
    typeof value === "bigint" ? { bigint: String(value) } : value,
  );
}

/** Reads tables from the text that `writeKept` returned. */
export function readKept(text: string): ReadonlyMap<string, unknown> {
  const kept = JSON.parse(text, (_key, value: unknown) =>
    typeof value === "object" && value !== null && "bigint" in value
      ? BigInt(String(value.bigint))
      : value,
  ) as Readonly<Record<string, unknown>>;
  return new Map(Object.entries(kept));
}
