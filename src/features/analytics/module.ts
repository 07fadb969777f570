import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { analyticsChecks } from "./checks.ts";
import { analyticsOperations } from "./operations.ts";
import type { AnalyticsService } from "./service.ts";

export const analyticsModule: FeatureModule<{ readonly analytics: AnalyticsService }> = {
  operations: { analytics: analyticsOperations },
  checks: analyticsChecks,
};
