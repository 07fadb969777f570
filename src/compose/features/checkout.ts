import { makeCheckoutService } from "../../features/checkout/service.ts";
import { makeCheckoutSources } from "../../features/checkout/sources.ts";
import type { CheckoutSandbox } from "../../features/checkout/ports.ts";
import { chooseOption } from "../../features/invoices/options/choose.ts";
import type { InvoiceService } from "../../features/invoices/service.ts";
import { makePaymentLinkService } from "../../features/payment-links/service.ts";
import { makeHashClaims } from "../../features/payments/hash-claims/submit-claim.ts";
import type { SandboxService } from "../../features/payments/sandbox/service.ts";
import { makeReceiptKeys } from "../../features/receipts/keys.ts";
import { makeReceiptService } from "../../features/receipts/service.ts";
import { makePayerRefunds } from "../../features/refunds/payer/payer-refunds.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { SandboxRefused } from "../../platform/chain/sandbox/chain.ts";
import type { Reader } from "../../platform/database/database.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Networks } from "../networks.ts";
import type { makeInvoicing } from "./invoicing.ts";
import type { makeLedger } from "./ledger.ts";

type Invoicing = ReturnType<typeof makeInvoicing>;
type Ledger = ReturnType<typeof makeLedger>;

const payer = systemContext("checkout");

/** Makes the services that payers use: the checkout, payment links and receipts. */
export function makePayerServices(
  parts: Dependencies,
  journal: Journal,
  { enabled, known }: Networks,
  services: Pick<Invoicing, "issuing" | "invoices" | "settlement"> &
    Pick<Ledger, "refunding" | "nudgeExaminer"> & { readonly sandbox: SandboxService | null },
) {
  const { db, clock, ids, secret, baseUrl } = parts;
  const { issuing, invoices, settlement, refunding, nudgeExaminer, sandbox } = services;
  const common = { db, clock, ids, journal };
  const checkout = makeCheckoutService({
    db,
    clock,
    networks: known,
    enabled: new Set(enabled.keys()),
    baseUrl,
    pageKey: deriveKey(secret, "refund-forms"),
    sources: makeCheckoutSources({ db, baseUrl }),
    claims: makeHashClaims({ ...common, invoices: settlement, nudge: nudgeExaminer }),
    refunds: makePayerRefunds(refunding),
    choose: (tx, checkoutId, chosen, at) => chooseOption(tx, issuing, checkoutId, chosen, at),
    sandbox: sandbox === null ? null : makeCheckoutSandbox({ db, invoices, sandbox }),
  });
  return {
    checkout,
    paymentLinks: makePaymentLinkService({
      ...common,
      baseUrl,
      networks: known,
      enabled: new Set(enabled.keys()),
      invoices,
    }),
    receipts: makeReceiptService({
      clock,
      checkout,
      networks: known,
      baseUrl,
      keys: makeReceiptKeys({ db, clock, journal, secret }),
    }),
  };
}

/** Creates the actions of the checkout's test panel. */
function makeCheckoutSandbox(deps: {
  readonly db: Reader;
  readonly invoices: InvoiceService;
  readonly sandbox: SandboxService;
}): CheckoutSandbox {
  const { db, invoices, sandbox } = deps;

  async function idOf(checkoutId: string): Promise<Id<"invoice">> {
    const invoice = await invoices.bySessionId(db, checkoutId);
    if (invoice === null) throw notFound();
    return invoice.id;
  }

  return {
    async pay(checkoutId, how) {
      const { invoiceId, remaining, tokenDecimals } = await sandbox.bill(await idOf(checkoutId));
      const one = 10n ** BigInt(tokenDecimals);
      const amount = { exact: remaining, under: (remaining + 1n) / 2n, over: remaining + one }[how];
      await sandbox.pay(payer, invoiceId, amount);
    },
    async mine(blocks) {
      await sandbox.mine(payer, blocks);
    },
    async reorganize(checkoutId) {
      try {
        await sandbox.reorganize(payer, await idOf(checkoutId), { drop: true });
        return true;
      } catch (error) {
        if (error instanceof SandboxRefused) return false;
        throw error;
      }
    },
    async expire(checkoutId) {
      await sandbox.expire(payer, await idOf(checkoutId));
    },
  };
}
