import { readText } from "./files.ts";
import type { PlanCatalog } from "../plans.ts";
import type { Reading } from "./config-report.ts";

/** Loads the plans; null if the file is invalid. `name` is the setting to report if the file cannot be read. */
export async function loadPlans(
  path: string,
  name: string,
  reading: Reading,
): Promise<PlanCatalog | null> {
  const text = await reading.attempt(name, () => readText(path));
  if (text === null) return null;
  // Loaded only here, because building the schema is slow.
  const { parsePlans } = await import("../plans.ts");
  const parsed = parsePlans(text);
  if (parsed.ok) return parsed.catalog;
  for (const { path: place, message } of parsed.problems) {
    reading.problems.push({ name: `${place} in ${path}`, message });
  }
  return null;
}
