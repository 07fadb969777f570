import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { customerOperations } from "./api.ts";
import { customerChecks } from "./search.ts";

export const customersModule: FeatureModule<{ readonly app: App }> = {
  operations: { app: customerOperations },
  checks: customerChecks,
};
