import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { meOperations } from "./operations.ts";
import type { MeService } from "./service.ts";

export const meModule: FeatureModule<{ readonly me: MeService }> = {
  operations: { me: meOperations },
};
