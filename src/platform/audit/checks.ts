import type { Check } from "../database/schema/checks.ts";
import type { SealKey } from "./chain.ts";
import { auditFault } from "./verify.ts";

export function auditChecks(key: SealKey): readonly Check[] {
  return [
    {
      name: "audit.chain",
      describe:
        "The audit log's chain is intact from its first entry to its head, and matches every head that an event announced.",
      advice: "Run till audit verify, and compare the store with a backup from before.",
      async run(reader) {
        const fault = await auditFault(reader, key);
        if (fault === null) return [];
        return [{ row: fault.id ?? `position ${String(fault.position)}`, fault: fault.message }];
      },
    },
  ];
}
