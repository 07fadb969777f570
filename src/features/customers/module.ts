import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { customerChecks } from "./checks.ts";
import { customerOperations } from "./operations.ts";
import type { CustomerService } from "./service.ts";

export const customersModule: FeatureModule<{ readonly customers: CustomerService }> = {
  operations: { customers: customerOperations },
  checks: customerChecks,
};
