import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { usageOperations } from "./operations.ts";
import { makeRollUp } from "./roll-up.ts";
import type { UsageService } from "./service.ts";

export const usageModule: FeatureModule<{ readonly usage: UsageService }> = {
  operations: { usage: usageOperations },
  workers: ({ db, leases }) => [makeRollUp({ db, leases, context: systemContext("figures") })],
};
