import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { networkOperations } from "./operations.ts";

export const networksModule: FeatureModule<{ readonly app: App }> = {
  operations: { app: networkOperations },
};
