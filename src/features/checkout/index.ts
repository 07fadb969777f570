export { checkoutOperations } from "./operations.ts";
export { checkoutPages } from "./pages.ts";
export type { CheckoutPayment, CheckoutSandbox } from "./ports.ts";
export { makeCheckoutService, type CheckoutService } from "./service.ts";
export { makeCheckoutSources } from "./sources.ts";
