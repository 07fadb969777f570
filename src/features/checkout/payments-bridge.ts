import { perApp } from "../../app.ts";
import { Defect } from "../../kernel/errors.ts";
import type { HashClaims } from "../payments/hash-claims/submit-claim.ts";
import type { SandboxService } from "../payments/sandbox/service.ts";
import type { PayerRefunds } from "../refunds/payer/payer-refunds.ts";

/**
 * The services of payments and refunds that payers' acts call, until these are functions of the app.
 * src/compose/services.ts gives them to each app.
 */
export const paymentsBridge = perApp<{
  readonly claims: HashClaims;
  readonly refunds: PayerRefunds;
  /** Null if the test network is disabled. */
  readonly sandbox: SandboxService | null;
}>(() => {
  throw new Defect("the app was given no services of payments");
});
