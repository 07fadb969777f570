import { analyticsChecks } from "../features/analytics/index.ts";
import { billingChecks } from "../features/billing/index.ts";
import { customerChecks } from "../features/customers/index.ts";
import { invoiceChecks } from "../features/invoices/index.ts";
import { organizationChecks } from "../features/organizations/index.ts";
import { paymentChecks } from "../features/payments/index.ts";
import { walletChecks } from "../features/wallets/index.ts";
import { webhookChecks } from "../features/webhooks/index.ts";
import { auditChecks } from "../platform/audit/checks.ts";
import type { Check, Violation } from "../platform/database/checks.ts";
import type { Reader } from "../platform/database/index.ts";
import { eventChecks } from "../platform/events/checks.ts";
import { idempotencyChecks } from "../platform/idempotency/checks.ts";

/** Everything that holds in a store that only Till has written, each feature's own. */
export const storeChecks: readonly Check[] = [
  ...auditChecks,
  ...eventChecks,
  ...idempotencyChecks,
  ...organizationChecks,
  ...walletChecks,
  ...webhookChecks,
  ...customerChecks,
  ...invoiceChecks,
  ...paymentChecks,
  ...billingChecks,
  ...analyticsChecks,
];

export interface CheckResult {
  readonly check: Check;
  /** Empty where it holds. */
  readonly violations: readonly Violation[];
}

/**
 * Runs every check, one after the other, and tells of each as it ends. It only reads. While a server writes, what seems
 * broken is looked at once more, since a check's statements do not see one moment.
 */
export async function verifyStore(
  reader: Reader,
  tell: (result: CheckResult) => void = () => undefined,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of storeChecks) {
    const found = await check.run(reader);
    const violations = found.length === 0 ? found : await lasting(reader, check, found);
    results.push({ check, violations });
    tell({ check, violations });
  }
  return results;
}

/** Those that a second look finds too. */
async function lasting(
  reader: Reader,
  check: Check,
  found: readonly Violation[],
): Promise<readonly Violation[]> {
  const rows = new Set(found.map(({ row }) => row));
  return (await check.run(reader)).filter(({ row }) => rows.has(row));
}
