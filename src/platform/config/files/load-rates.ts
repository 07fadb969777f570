import type { Network } from "../../chain/networks.ts";
import type { RatesPlan } from "../../rates/plan.ts";
import { readText } from "./files.ts";
import type { Reading } from "./config-report.ts";

/**
 * Loads the rates file, without its sources if they are switched off; null if the file is invalid. Without the network
 * table, which declares the tokens, it loads nothing.
 */
export async function loadRates(
  path: string,
  table: readonly Network[] | null,
  sources: "on" | "off",
  reading: Reading,
): Promise<RatesPlan | null> {
  if (table === null) return null;
  const text = await reading.attempt(path, () => readText(path));
  if (text === null) return null;
  const { parseRates, withoutSources } = await import("../../rates/plan.ts");
  const symbols = new Set(table.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  const parsed = parseRates(text, symbols);
  if (parsed.ok) return sources === "on" ? parsed.plan : withoutSources(parsed.plan);
  for (const { path: place, message } of parsed.problems) {
    reading.problems.push({ name: place === "" ? path : `${place} in ${path}`, message });
  }
  return null;
}
