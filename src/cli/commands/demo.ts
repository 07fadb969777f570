import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createPrometheus } from "../../platform/metrics/prometheus.ts";
import { programVersion } from "../../platform/files.ts";
import { createApp, type Program } from "../../compose/app.ts";
import type { LoadedConfig } from "../../platform/config/config.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { startReceiver, type ReceivedWebhook, type Receiver } from "../demo/receiver.ts";
import { seed, type DemoWorld } from "../demo/seed.ts";
import { operator } from "../operator.ts";
import { inQuotes } from "../completion/shell-line.ts";
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
    const place = await lockDataFolder(folder);
    try {
      await run(terminal, loaded, { asked, place });
    } finally {
      await place.leave();
    }
  } finally {
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  terminal: Terminal,
  loaded: LoadedConfig,
  { asked, place }: { readonly asked: Promise<unknown>; readonly place: DataFolderLock },
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
    await place.announce(serving.url);
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
  return [...Array.from({ length: portsTried }, (_none, place) => config.port + place), 0];
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
