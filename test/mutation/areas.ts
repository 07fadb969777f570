import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Mutant } from "./mutants.ts";

/** The root of the project. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Sources whose decisions move money or tell the caller's address, and the tests that must notice a change of one. */
export interface Area {
  readonly name: string;
  /** Files, or folders with all their files. */
  readonly sources: readonly string[];
  /**
   * Test files, or folders, in stages: a stage tries only what survived the one before it, so suites without a store
   * come first. Suites that start programs are left out: those run the built sources.
   */
  readonly stages: readonly (readonly string[])[];
}

export const areas: readonly Area[] = [
  {
    name: "kernel",
    sources: ["src/kernel"],
    stages: [["test/kernel"]],
  },
  {
    name: "client-address",
    sources: ["src/http/client-address.ts"],
    stages: [["test/http/client-address.test.ts"]],
  },
  {
    name: "payments-rules",
    sources: [
      "hash-claims/rules.ts",
      "inbox/allocation-rules.ts",
      "inbox/suggestions.ts",
      "ledger/match-transfers.ts",
      "ledger/chain-diff.ts",
      "ledger/payment-rules.ts",
      "ledger/surplus.ts",
      "ledger/transfer-rules.ts",
      "watcher/cursor.ts",
      "watcher/readings/reading-plan.ts",
      "watcher/receipt-verifier.ts",
    ].map((file) => `src/features/payments/${file}`),
    stages: [
      [
        "inbox/allocation-rules.test.ts",
        "hash-claims/rules.test.ts",
        "ledger/chain-diff.test.ts",
        "ledger/payment-rules.test.ts",
        "ledger/surplus.test.ts",
        "ledger/transfer-rules.test.ts",
        "watcher/cursor.test.ts",
        "watcher/receipt-verifier.test.ts",
        "watcher/readings/reading-plan.test.ts",
        "inbox/suggestion-rules.test.ts",
      ].map((file) => `test/features/payments/${file}`),
      ["test/platform/chain/state/readings.test.ts"],
      ["hash-claims", "inbox", "ledger", "watcher"].map(
        (folder) => `test/features/payments/${folder}`,
      ),
      ["test/features/payments"],
    ],
  },
  {
    name: "refunds-rules",
    sources: ["src/features/refunds/rules.ts"],
    stages: [["test/features/refunds/rules.test.ts"], ["test/features/refunds"]],
  },
  {
    name: "invoices-rules",
    sources: [
      "holds/amounts.ts",
      "settlement/terms-to-pay.ts",
      "options/quotes.ts",
      "rules.ts",
      "settlement/owed.ts",
    ].map((file) => `src/features/invoices/${file}`),
    stages: [
      [
        "holds/amounts.test.ts",
        "options/quotes.test.ts",
        "settlement/terms-to-pay.test.ts",
        "rules.test.ts",
      ].map((file) => `test/features/invoices/${file}`),
      ["test/features/invoices"],
    ],
  },
  {
    name: "billing-rules",
    sources: ["charges.ts", "lifecycle/rules.ts", "periods.ts"].map(
      (file) => `src/features/billing/${file}`,
    ),
    stages: [
      [
        "charges.test.ts",
        "lifecycle/periods.test.ts",
        "lifecycle/rules.test.ts",
        "lifecycle/decide-plan-change.test.ts",
      ].map((file) => `test/features/billing/${file}`),
    ],
  },
];

/** A mutant that may survive, since no test could tell it from the original. */
export interface Excuse {
  readonly file: string;
  /** The function or constant around it; empty at the top of the file. */
  readonly within: string;
  readonly original: string;
  readonly mutated: string;
  readonly reason: string;
}

/** The excuses of `excused.yaml`. */
export function readExcuses(): readonly Excuse[] {
  return parse(readFileSync(join(root, "test/mutation/excused.yaml"), "utf8")) as readonly Excuse[];
}

export function isExcuseOf(excuse: Excuse, { file, within, original, mutated }: Mutant): boolean {
  return (
    excuse.file === file &&
    excuse.within === within &&
    excuse.original === original &&
    excuse.mutated === mutated
  );
}

/** The text of a source. */
export function readSource(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The files at a path from the root: itself, or those below it with the ending, in order. */
export function filesAt(path: string, ending: string): readonly string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(path, file))
    .sort();
}
