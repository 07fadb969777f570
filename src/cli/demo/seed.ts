import { setTimeout as delay } from "node:timers/promises";
import { HDKey } from "@scure/bip32";
import type { Program } from "../../compose/app.ts";
import { initializeStore } from "../../features/admin/initialize.ts";
import { reviewOrganization } from "../../features/admin/organizations.ts";
import { createApiKey } from "../../features/api-keys/api-keys.ts";
import { addOrganization, updateOrganization } from "../../features/organizations/organizations.ts";
import { submitKyb } from "../../features/organizations/verification.ts";
import { createWallet } from "../../features/wallets/wallets.ts";
import { createWebhookEndpoint } from "../../features/webhooks/endpoints.ts";
import { createInvoice } from "../../features/invoices/issuing/create.ts";
import { presentInvoice } from "../../features/invoices/records.ts";
import { Defect, Problem } from "../../kernel/errors.ts";
import type { Id, RandomBytes } from "../../kernel/id.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { addWallets } from "../setup/receive-wallet.ts";

/** The demo's data that is shown to the user. */
export interface DemoWorld {
  readonly checkoutUrl: string;
  readonly invoiceId: string;
  readonly organizationId: string;
  /** A key that may do what an owner's programs may, for the examples of the reference. */
  readonly apiKey: string;
  /** A key with the scope `shop`, for the shops of the guides. */
  readonly shopKey: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
}

const network = "sandbox";
const tokenSymbol = "USDT";
const adminEmail = "admin@example.com";
/** Length of the admin's password: 120 bits. */
const passwordBytes = 15;
/** Maximum wait for the watcher's first read of the sandbox, in milliseconds. */
const readyMs = 15_000;
const readyPollMs = 100;

const profile = {
  legalName: "Nook Coffee Ltd",
  registrationNumber: "DEMO-1",
  country: "NL",
  address: "1 Harbour Street, Rotterdam",
  contactEmail: "hello@example.com",
  businessDescription: "Coffee, and the cups to drink it from",
};

/** Creates the platform, a merchant and an invoice through the same services as the API. */
export async function seed(
  app: Program,
  context: WriteContext,
  receiver: { readonly url: string; readonly trust: (secret: string) => void },
): Promise<DemoWorld> {
  const adminPassword = Buffer.from(app.randomBytes(passwordBytes)).toString("base64url");
  const { user, organization } = await initializeStore(app, context, {
    adminEmail,
    adminName: "Ada Admin",
    password: adminPassword,
    organization: "Till demo",
  });
  await addWallets(app, context, organization.id, null, {
    network,
    tokenSymbol,
    receiver: { xpub: newXpub(app.randomBytes) },
  });
  const organizationId = await addMerchant(app, context, user.id);
  await createWallet(app, context, organizationId, {
    label: "Shop",
    network,
    xpub: newXpub(app.randomBytes),
  });
  const { secret: apiKey } = await createApiKey(app, context, organizationId, {
    name: "demo",
    scopes: ["read", "write", "billing"],
  });
  const { secret: shopKey } = await createApiKey(app, context, organizationId, {
    name: "shop",
    scopes: ["shop"],
  });
  const endpoint = await createWebhookEndpoint(app, context, organizationId, {
    url: receiver.url,
    description: "The receiver of the demo",
  });
  receiver.trust(endpoint.secret);
  const invoice = await issueInvoice(app, context, organizationId);
  return { ...invoice, organizationId, apiKey, shopKey, adminEmail, adminPassword };
}

/** Creates a verified merchant, owned by the demo's admin so that one login shows everything. */
async function addMerchant(
  app: Program,
  context: WriteContext,
  ownerId: Id<"user">,
): Promise<Id<"organization">> {
  const { id } = await app.db.write(context, (tx) =>
    addOrganization(tx, app, app.clock.now(), { name: "Nook Coffee", ownerId }),
  );
  await updateOrganization(app, context, id, profile, () => undefined);
  await submitKyb(app, context, id);
  await reviewOrganization(app, context, id, { decision: "approve" });
  return id;
}

/**
 * Returns the extended public key of a new wallet whose private keys are discarded. With an extended key every invoice
 * has its own address, so under- and overpayments can be matched.
 */
function newXpub(randomBytes: RandomBytes): string {
  const account = HDKey.fromMasterSeed(randomBytes(64)).derive("m/44'/60'/0'");
  const xpub = account.publicExtendedKey;
  account.wipePrivateData();
  return xpub;
}

async function issueInvoice(
  app: Program,
  context: WriteContext,
  organizationId: Id<"organization">,
): Promise<{ checkoutUrl: string; invoiceId: string }> {
  const invoice = await whenNetworkIsReady(app, () =>
    createInvoice(app, context, organizationId, {
      amount: "24.00",
      settlementCurrency: "USD",
      tokenSymbol,
      network,
      description: "Two bags of coffee",
      externalId: "demo-1",
    }),
  );
  const { id, checkoutUrl } = presentInvoice(invoice.invoice);
  if (checkoutUrl === null) throw new Defect("an issued invoice has no checkout");
  return { checkoutUrl, invoiceId: id };
}

/** Retries until the network's watcher is ready; before that, invoices are refused. */
async function whenNetworkIsReady<T>(app: Program, issue: () => Promise<T>): Promise<T> {
  const until = app.clock.now() + readyMs;
  for (;;) {
    try {
      return await issue();
    } catch (error) {
      const isEarly = error instanceof Problem && error.code === "network_not_ready";
      if (!isEarly || app.clock.now() > until) throw error;
      await delay(readyPollMs);
    }
  }
}
