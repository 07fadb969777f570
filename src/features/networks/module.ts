import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { networkOperations } from "./operations.ts";
import type { NetworkService } from "./service.ts";

export const networksModule: FeatureModule<{ readonly networks: NetworkService }> = {
  operations: { networks: networkOperations },
};
