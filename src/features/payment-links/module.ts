import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { paymentLinkOperations } from "./operations.ts";
import { paymentLinkPages } from "./pages.ts";
import type { PaymentLinkService } from "./service.ts";

export const paymentLinksModule: FeatureModule<{ readonly paymentLinks: PaymentLinkService }> = {
  operations: { paymentLinks: paymentLinkOperations },
  pages: { paymentLinks: paymentLinkPages },
};
