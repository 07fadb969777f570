import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HDKey } from "@scure/bip32";
import { initializeStore } from "../../features/admin/initialize.ts";
import { reviewOrganization } from "../../features/admin/organizations.ts";
import { createApiKey } from "../../features/api-keys/api-keys.ts";
import { createInvoice } from "../../features/invoices/issuing/create.ts";
import { presentInvoice } from "../../features/invoices/records.ts";
import { addOrganization, updateOrganization } from "../../features/organizations/organizations.ts";
import { submitKyb } from "../../features/organizations/verification.ts";
import { createWallet } from "../../features/wallets/wallets.ts";
import { createWebhookEndpoint } from "../../features/webhooks/endpoints.ts";
import { Defect, Problem } from "../../kernel/errors.ts";
import type { Id, RandomBytes } from "../../kernel/id.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { createPrometheus } from "../../platform/metrics/prometheus.ts";
import { programVersion } from "../../platform/files.ts";
import { createApp, type Program } from "../../compose/app.ts";
import type { LoadedConfig } from "../../platform/config/config.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { startReceiver, type ReceivedWebhook, type Receiver } from "../receiver.ts";
import { operator } from "../operator.ts";
import { inQuotes } from "../completion/shell-line.ts";
import { addWallets } from "../setup/receive-wallet.ts";
import { printLines } from "../terminal/output.ts";
import { startServing, untilAskedToStop, type Serving } from "../serving.ts";
import { lockDataFolder, type DataFolderLock } from "../single-server.ts";
import { loadSettings, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Number of consecutive ports to try if no port is given; after them, any free port. */
const portsTried = 20;

/** Gives commands with the demo's data folder the settings of its server: its sandbox, and receivers on this machine. */
const settingsFile = [
  "# Written by till demo.",
  "networks: [sandbox]",
  "registration: open",
  "webhookAllowCidrs: [127.0.0.1/32]",
  "",
].join("\n");

/** `till demo`: runs a complete installation in a temporary folder, which is deleted at the end. */
export async function demo(terminal: Terminal, flags: Flags): Promise<void> {
  const asked = untilAskedToStop();
  const given = flags["dataDir"];
  const folder =
    typeof given === "string" ? resolve(given) : await mkdtemp(join(tmpdir(), "till-demo-"));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeSettings(folder);
    const loaded = await loadSettings(terminal, "demo", { ...flags, dataDir: folder });
    const lock = await lockDataFolder(folder);
    try {
      await run(terminal, loaded, { asked, lock });
    } finally {
      await lock.leave();
    }
  } finally {
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  terminal: Terminal,
  loaded: LoadedConfig,
  { asked, lock }: { readonly asked: Promise<unknown>; readonly lock: DataFolderLock },
): Promise<void> {
  const { config } = loaded;
  // Log lines would clutter the output, so the level is warn unless it was set.
  const level = isGiven(loaded, "TILL_LOG_LEVEL") ? config.logLevel : "warn";
  const logger = createLogger({ level });
  const metrics = createPrometheus({ version: programVersion(), logger });
  const app = await createApp(config, "initialize", { logger, metrics });
  const receiver = await startReceiver((webhook) => {
    printWebhook(terminal, webhook);
  });
  let serving: Serving | null = null;
  try {
    serving = await startServing(app, { host: config.host, ports: portsOf(loaded) });
    await lock.announce(serving.url);
    const context = { actor: operator(), requestId: terminal.requestId, ip: null };
    const world = await seed(app, context, receiver);
    await printDemo(terminal, app, serving, world);
    await asked;
  } finally {
    await stop(app, serving, receiver);
  }
}

async function stop(app: Program, serving: Serving | null, receiver: Receiver): Promise<void> {
  if (serving === null) await app.close();
  else await serving.stop();
  await receiver.close();
}

function portsOf({ config, settings }: LoadedConfig): number[] {
  if (isGiven({ settings }, "TILL_PORT")) return [config.port];
  return [...Array.from({ length: portsTried }, (_none, offset) => config.port + offset), 0];
}

function isGiven({ settings }: Pick<LoadedConfig, "settings">, name: string): boolean {
  const setting = settings.find((one) => one.name === name);
  return setting !== undefined && setting.origin.source !== "default";
}

/** Writes the settings file unless the folder has one. A store in use is refused later. */
async function writeSettings(folder: string): Promise<void> {
  try {
    await writeFile(join(folder, "till.yaml"), settingsFile, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

async function printDemo(
  terminal: Terminal,
  app: Program,
  { url }: Serving,
  world: DemoWorld,
): Promise<void> {
  const { checkoutUrl, apiKey, shopKey, adminEmail, adminPassword, invoiceId } = world;
  const links = { apiBase: `${app.baseUrl()}/v1`, docsUrl: `${app.baseUrl()}/docs` };
  switch (terminal.form) {
    case "json":
      terminal.data(
        JSON.stringify({ checkoutUrl, ...links, apiKey, shopKey, adminEmail, adminPassword }),
      );
      return;
    case "quiet":
      terminal.data(checkoutUrl);
      return;
    case "people": {
      terminal.talk(`Till is ready at ${url}. Its tokens have no value, so pay as you like.\n`);
      await printLines(terminal, [
        ["Checkout", checkoutUrl],
        ["API", links.apiBase],
        ["Docs", links.docsUrl],
        ["Shop's key", shopKey],
        ["API key", `${apiKey}  (read, write, billing)`],
        ["Organization", world.organizationId],
        ["Admin", `${adminEmail}  ${adminPassword}`],
        ["Data folder", app.config.dataDir],
      ]);
      terminal.talk(
        "\nFor the shop and the commands of the guides, in another terminal:\n" +
          `  export TILL=${app.baseUrl()}\n` +
          `  export KEY=${shopKey}\n` +
          `  export TILL_DATA_DIR=${inQuotes(app.config.dataDir)}\n` +
          `  export TILL_ORGANIZATION=${world.organizationId}\n` +
          "Open the checkout and pay, or there:\n" +
          `  till sandbox pay ${invoiceId}\n` +
          "Select a plan with POST …/billing/subscription/select, and see the billing:\n" +
          "  till billing plans\n" +
          "  till billing subscriptions\n" +
          "  till billing invoices\n" +
          "Received webhooks are shown below. Press Ctrl-C to end the demo.\n",
      );
    }
  }
}

function printWebhook({ form, surroundings }: Terminal, { type, objectId, id }: ReceivedWebhook) {
  const line =
    form === "json"
      ? JSON.stringify({ level: "info", msg: "webhook received", id, type, objectId })
      : `webhook  ${type}  ${objectId}  (signature verified)`;
  surroundings.stderr.write(`${line}\n`);
}

/** The demo's data that is shown to the user. */
interface DemoWorld {
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
async function seed(
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
