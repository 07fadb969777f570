import type { Network } from "../chain/networks.ts";
import type { RatesPlan } from "../rates/plan.ts";
import { readText } from "./files.ts";
import type { Reading } from "./reading.ts";

/** The file of rates; null where it is wrong. Without the network table nobody knows the tokens, and nothing is said. */
export async function loadRates(
  path: string,
  table: readonly Network[] | null,
  reading: Reading,
): Promise<RatesPlan | null> {
  if (table === null) return null;
  const text = await reading.attempt(path, () => readText(path));
  if (text === null) return null;
  const { parseRates } = await import("../rates/plan.ts");
  const symbols = new Set(table.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  const parsed = parseRates(text, symbols);
  if (parsed.ok) return parsed.plan;
  for (const { path: place, message } of parsed.problems) {
    reading.problems.push({ name: place === "" ? path : `${place} in ${path}`, message });
  }
  return null;
}
