import { features } from "../features/index.ts";
import type { SealKey } from "../platform/audit/chain.ts";
import { auditChecks } from "../platform/audit/verify.ts";
import type { Check, Violation } from "../platform/database/schema/checks.ts";
import type { Reader } from "../platform/database/database.ts";
import { eventChecks } from "../platform/events/outbox.ts";
import { idempotencyChecks } from "../platform/idempotency.ts";

/** All consistency checks of a store, by feature. They hold if only Till has written to the store. */
export function storeChecks(auditKey: SealKey): readonly Check[] {
  return [
    ...auditChecks(auditKey),
    ...eventChecks,
    ...idempotencyChecks,
    ...features.flatMap(({ checks = [] }) => checks),
  ];
}

export interface CheckResult {
  readonly check: Check;
  /** Empty if the check passed. */
  readonly violations: readonly Violation[];
}

/**
 * Runs all checks in sequence and reports each result. Read-only. A check's statements do not share a snapshot, so
 * violations are checked a second time, in case a server is writing.
 */
export async function verifyStore(
  reader: Reader,
  auditKey: SealKey,
  report: (result: CheckResult) => void = () => undefined,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of storeChecks(auditKey)) {
    const found = await check.run(reader);
    const violations = found.length === 0 ? found : await lasting(reader, check, found);
    results.push({ check, violations });
    report({ check, violations });
  }
  return results;
}

/** Returns the violations that a second run finds too. */
async function lasting(
  reader: Reader,
  check: Check,
  found: readonly Violation[],
): Promise<readonly Violation[]> {
  const rows = new Set(found.map(({ row }) => row));
  return (await check.run(reader)).filter(({ row }) => rows.has(row));
}
