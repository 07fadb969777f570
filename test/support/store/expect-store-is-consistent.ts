import { existsSync } from "node:fs";
import { verifyStore, type CheckResult } from "../../../src/compose/checks.ts";
import { openForReading, type StoreOptions } from "../../../src/platform/database/open.ts";
import type { Reader } from "../../../src/platform/database/database.ts";
import { auditKey } from "../secret.ts";

/** Rows that tests leave in a store and that Till alone would never write. */
export interface Unsound {
  /** The checks that these rows violate, or all if the whole store is inconsistent. */
  readonly checks: readonly string[] | "all";
  /** The rows that the tests write directly, or omit. */
  readonly because: string;
}

const leavesNothingSound = (unsound: readonly Unsound[]): boolean =>
  unsound.some(({ checks }) => checks === "all");

/** Throws if a store violates an invariant of stores that only Till writes. */
export async function expectSound(reader: Reader, unsound: readonly Unsound[] = []): Promise<void> {
  if (leavesNothingSound(unsound)) return;
  const excused = unsound.flatMap(({ checks }) => checks);
  const broken = (await verifyStore(reader, auditKey)).filter(
    ({ check, violations }) => violations.length > 0 && !excused.includes(check.name),
  );
  if (broken.length > 0) throw new Error(`the store is broken: ${broken.map(told).join("; ")}`);
}

/** `expectSound` for a store that is not open; one without Till's tables passes. */
export async function expectSoundPlace(
  place: StoreOptions,
  unsound: readonly Unsound[] = [],
): Promise<void> {
  if (leavesNothingSound(unsound)) return;
  if ("sqliteFile" in place && !existsSync(place.sqliteFile)) return;
  const store = await openForReading(place);
  try {
    if (store.pending.length === 0) await expectSound(store, unsound);
  } finally {
    await store.close();
  }
}

function told({ check, violations }: CheckResult): string {
  const [first] = violations;
  return `${check.name}: ${String(violations.length)} rows, ${first?.row ?? ""}: ${first?.fault ?? ""}`;
}
