import { verifyStore, type CheckResult } from "../../src/compose/checks.ts";
import type { Reader } from "../../src/platform/database/index.ts";

/** Throws where a store is not as one must be that only Till has written. */
export async function expectSound(reader: Reader): Promise<void> {
  const broken = (await verifyStore(reader)).filter(({ violations }) => violations.length > 0);
  if (broken.length > 0) throw new Error(`the store is broken: ${broken.map(told).join("; ")}`);
}

function told({ check, violations }: CheckResult): string {
  const [first] = violations;
  return `${check.name}: ${String(violations.length)} rows, ${first?.row ?? ""}: ${first?.fault ?? ""}`;
}
