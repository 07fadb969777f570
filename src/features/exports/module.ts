import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { exportOperations } from "./operations.ts";
import type { ExportService } from "./service.ts";

export const exportsModule: FeatureModule<{ readonly exports: ExportService }> = {
  operations: { exports: exportOperations },
};
