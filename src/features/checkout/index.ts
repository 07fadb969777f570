export type { CheckoutPayment, CheckoutSandbox } from "./ports.ts";
export type { CheckoutSession } from "./present.ts";
export { makeCheckoutService, type CheckoutService } from "./service.ts";
export { makeCheckoutSources } from "./sources.ts";
export { makeLinkPage, makePosterPage } from "./page/link-pages.ts";
export { readLanguage } from "./page/languages.ts";
export { makeVerifyPage, type Verification } from "./page/verify-page.ts";
export { makeProblemPage } from "./page/problem-page.ts";
