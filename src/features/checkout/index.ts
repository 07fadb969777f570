export { checkoutOperations } from "./operations.ts";
export { checkoutPages } from "./pages.ts";
export type { CheckoutPayment, CheckoutSandbox, CheckoutSources } from "./ports.ts";
export { presentSession, type CheckoutSession, type CheckoutView } from "./present.ts";
export { CheckoutSessionRecord } from "./records.ts";
export { makeCheckoutService, type CheckoutDependencies, type CheckoutService } from "./service.ts";
export { makeCheckoutSources } from "./sources.ts";
