import type { Check } from "../database/checks.ts";
import { auditFault } from "./verify.ts";

export const auditChecks: readonly Check[] = [
  {
    name: "audit.chain",
    describe: "The audit log's chain holds from its first entry to its head.",
    advice: "Run till audit verify, and compare the store with a backup from before.",
    async run(reader) {
      const fault = await auditFault(reader);
      if (fault === null) return [];
      return [{ row: fault.id ?? `position ${String(fault.position)}`, fault: fault.message }];
    },
  },
];
