import type { FeatureModule } from "../../api/declare/feature-module.ts";
import type { App } from "../../app.ts";
import { adminAnalyticsOperations } from "./analytics.ts";
import { adminAuditLogOperations } from "./audit-logs.ts";
import { oversightOperations, statusOperations } from "./cross-organization/operations.ts";
import type { OversightService } from "./cross-organization/queries.ts";
import { adminOperations } from "./operations.ts";
import type { AdminService } from "./service.ts";
import type { StatusService } from "./status/operations-status.ts";
import { backupMetrics, checkMetrics, workMetrics } from "./status/metrics.ts";

export const adminModule: FeatureModule<{
  readonly admin: AdminService;
  readonly oversight: OversightService;
  readonly installationStatus: StatusService;
  readonly app: App;
}> = {
  operations: {
    admin: adminOperations,
    oversight: oversightOperations,
    installationStatus: statusOperations,
    app: [...adminAuditLogOperations, ...adminAnalyticsOperations],
  },
  metrics: (parts) => [workMetrics(parts), backupMetrics(parts), checkMetrics(parts)],
};
