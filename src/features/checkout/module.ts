import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { checkoutOperations } from "./operations.ts";
import { checkoutPages } from "./pages.ts";
import { prunePayerActs } from "./payer-limits.ts";
import type { CheckoutService } from "./service.ts";

export const checkoutModule: FeatureModule<{ readonly checkout: CheckoutService }> = {
  operations: { checkout: checkoutOperations },
  pages: { checkout: checkoutPages },
  prunings: { "prune payer acts": prunePayerActs },
};
