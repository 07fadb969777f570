import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { organizationChecks } from "./checks.ts";
import { organizationOperations } from "./operations.ts";
import type { OrganizationService } from "./service.ts";

export const organizationsModule: FeatureModule<{
  readonly organizationService: OrganizationService;
}> = {
  operations: { organizationService: organizationOperations },
  checks: organizationChecks,
};
