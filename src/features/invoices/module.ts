import type { App } from "../../app.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { batchOperations } from "./batches/operations.ts";
import { capacityMetrics } from "./capacity/metrics.ts";
import { capacityOperations } from "./capacity/operations.ts";
import { invoiceChecks } from "./checks.ts";
import { invoiceOperations } from "./operations.ts";

export const invoicesModule: FeatureModule<{ readonly app: App }> = {
  operations: { app: [...invoiceOperations, ...batchOperations, ...capacityOperations] },
  checks: invoiceChecks,
  metrics: ({ app }) => [capacityMetrics(app)],
};
