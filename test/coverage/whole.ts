import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../mutation/areas.ts";
import type { Branch } from "./branches.ts";

/** The folders whose branches are counted. */
export const reportedFolders = ["src/features", "src/kernel"];

/** The files and folders of which every branch must be taken: they decide about money or about who may do what. */
export const wholeSources: readonly string[] = [
  "src/kernel/money",
  "src/features/payments/decisions",
  "src/features/payments/inbox/allocation-rules.ts",
  "src/features/payments/inbox/allocation.ts",
  "src/features/payments/ledger/payment-rules.ts",
  "src/features/payments/ledger/surplus.ts",
  "src/features/payments/ledger/transfer-rules.ts",
  "src/features/refunds/rules.ts",
  "src/features/invoices/rules.ts",
  "src/features/invoices/holds/amounts.ts",
  "src/features/invoices/settlement",
  "src/features/checkout/rules.ts",
  "src/features/billing/charges.ts",
  "src/features/billing/periods.ts",
  "src/features/billing/lifecycle/rules.ts",
  "src/features/auth/authentication.ts",
  "src/features/auth/login.ts",
  "src/features/auth/login-lock.ts",
  "src/features/auth/passwords.ts",
  "src/features/auth/records.ts",
  "src/features/auth/retention.ts",
  "src/features/auth/sessions.ts",
  "src/features/auth/store.ts",
  "src/features/auth/users.ts",
  "src/features/api-keys/api-keys.ts",
  "src/http/pipeline/admission.ts",
  "src/http/pipeline/idempotency.ts",
  "src/platform/idempotency.ts",
];

/** A branch of these sources that no test can take. */
export interface Excuse extends Pick<Branch, "file" | "within" | "text" | "way"> {
  readonly reason: string;
}

/** The excuses of `excused.yaml`. */
export function readExcuses(): readonly Excuse[] {
  return parse(readFileSync(join(root, "test/coverage/excused.yaml"), "utf8")) as readonly Excuse[];
}

export function isExcuseOf(excuse: Excuse, { file, within, text, way }: Branch): boolean {
  return (
    excuse.file === file && excuse.within === within && excuse.text === text && excuse.way === way
  );
}
