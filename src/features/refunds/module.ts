import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { refundChecks } from "./checks.ts";
import { refundOperations } from "./operations.ts";
import type { RefundService } from "./service.ts";

export const refundsModule: FeatureModule<{ readonly refunds: RefundService }> = {
  operations: { refunds: refundOperations },
  checks: refundChecks,
};
