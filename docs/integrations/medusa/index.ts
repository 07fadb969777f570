import { ModuleProvider, Modules } from "@medusajs/framework/utils";
import { TillPaymentProvider } from "./till-provider.js";

export default ModuleProvider(Modules.PAYMENT, { services: [TillPaymentProvider] });
