import { existsSync } from "node:fs";
import { verifyStore, type CheckResult } from "../../src/compose/checks.ts";
import { openForReading } from "../../src/platform/database/glance.ts";
import type { Reader, StoreOptions } from "../../src/platform/database/index.ts";

/** What tests leave in a store that Till alone would never write. */
export interface Unsound {
  /** The checks that it breaks, or all where nothing in the store is as it should be. */
  readonly checks: readonly string[] | "all";
  /** What the tests write past the program, or leave out. */
  readonly because: string;
}

const leavesNothingSound = (unsound: readonly Unsound[]): boolean =>
  unsound.some(({ checks }) => checks === "all");

/** Throws where a store is not as one must be that only Till has written. */
export async function expectSound(reader: Reader, unsound: readonly Unsound[] = []): Promise<void> {
  if (leavesNothingSound(unsound)) return;
  const excused = unsound.flatMap(({ checks }) => checks);
  const broken = (await verifyStore(reader)).filter(
    ({ check, violations }) => violations.length > 0 && !excused.includes(check.name),
  );
  if (broken.length > 0) throw new Error(`the store is broken: ${broken.map(told).join("; ")}`);
}

/** The same of a store that nobody has open; one without Till's tables holds nothing that could be broken. */
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
