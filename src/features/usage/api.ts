import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { makeRollUp } from "./roll-up.ts";

export const usageModule: FeatureModule<{ readonly app: App }> = {
  workers: ({ app, leases }) => [
    makeRollUp({ db: app.db, leases, context: systemContext("figures") }),
  ],
};
