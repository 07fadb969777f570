import { readText } from "./files.ts";
import type { PlanCatalog } from "./plans.ts";
import type { Reading } from "./reading.ts";

/** The catalog of plans; null where it is wrong. `name` is what to correct where the file cannot be read. */
export async function loadPlans(
  path: string,
  name: string,
  reading: Reading,
): Promise<PlanCatalog | null> {
  const text = await reading.attempt(name, () => readText(path));
  if (text === null) return null;
  // Its schema is heavy, so it is loaded when there is something to read.
  const { parsePlans } = await import("./plans.ts");
  const parsed = parsePlans(text);
  if (parsed.ok) return parsed.catalog;
  for (const { path: place, message } of parsed.problems) {
    reading.problems.push({ name: `${place} in ${path}`, message });
  }
  return null;
}
