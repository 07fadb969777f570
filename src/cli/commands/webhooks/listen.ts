import { readFile } from "node:fs/promises";
import { neededOrganization } from "../../../api/declare/command.ts";
import { createApp, type App } from "../../../compose/index.ts";
import { CreateWebhookEndpointRequest } from "../../../features/webhooks/index.ts";
import { parseBody } from "../../../api/declare/request.ts";
import { Problem } from "../../../kernel/errors.ts";
import { createLogger } from "../../../platform/logger/index.ts";
import { isWebhookSecret } from "../../../platform/outbound/standard-webhooks.ts";
import { startReceiver, type ReceivedWebhook, type Receiver } from "../../demo/receiver.ts";
import { UsageError } from "../../failures/refusals.ts";
import { operator } from "../../operator.ts";
import { chooseOrganization } from "../../organization.ts";
import { loadStoreSettings, logLevelOf } from "../../settings.ts";
import { printable, type Terminal } from "../../terminal/terminal.ts";

type Flags = Readonly<Record<string, string | boolean | undefined>>;

const portMax = 65_535;
const notReachable =
  "Servers deliver only to the public internet and to TILL_WEBHOOK_ALLOW_CIDRS. Set it to 127.0.0.1/32 for the server and for this command, or give --url with the https URL of a tunnel.";

/**
 * `till webhook listen`: receives webhooks on this machine and prints those with a valid signature, until Ctrl-C.
 * Without --secret-file, it adds an endpoint for itself to the organization, and disables it at the end.
 */
export async function listenForWebhooks(terminal: Terminal, flags: Flags): Promise<void> {
  const stopped = untilStopped(terminal);
  const port = portOf(textOf(flags, "port"));
  const secretFile = textOf(flags, "secretFile");
  const secret = secretFile === undefined ? null : await readSecret(secretFile);
  const receiver = await startReceiver(
    (webhook) => {
      print(terminal, webhook);
    },
    {
      port,
      refused: (reason) => {
        terminal.talk(`Refused a request: ${reason}.`);
      },
    },
  );
  try {
    if (secret !== null) {
      receiver.trust(secret);
      terminal.talk(`Receiving at ${receiver.url}. Ctrl-C ends.`);
      await stopped;
      return;
    }
    await listenAsEndpoint(terminal, flags, receiver, stopped);
  } finally {
    await receiver.close();
  }
}

async function listenAsEndpoint(
  terminal: Terminal,
  flags: Flags,
  receiver: Receiver,
  stopped: Promise<void>,
): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const app = await createApp(loaded.config, "use", {
    logger: createLogger({ level: logLevelOf(terminal, loaded) }),
  });
  try {
    const chosen = await chooseOrganization(
      app.db,
      [neededOrganization],
      flags,
      loaded.config.organization,
    );
    if (chosen === null) return;
    await receiveFor(app, terminal, flags, { receiver, stopped, organizationId: chosen.id });
  } finally {
    await app.close();
  }
}

async function receiveFor(
  { webhooks }: App,
  terminal: Terminal,
  flags: Flags,
  {
    receiver,
    stopped,
    organizationId,
  }: {
    readonly receiver: Receiver;
    readonly stopped: Promise<void>;
    readonly organizationId: Parameters<App["webhooks"]["createEndpoint"]>[1];
  },
): Promise<void> {
  const context = { actor: operator(), requestId: terminal.requestId, ip: null };
  const eventTypes = textOf(flags, "eventTypes")
    ?.split(",")
    .map((type) => type.trim());
  const input = parseBody(CreateWebhookEndpointRequest, {
    url: textOf(flags, "url") ?? receiver.url,
    description: "till webhook listen",
    ...(eventTypes === undefined ? {} : { eventTypes }),
  }) as Parameters<App["webhooks"]["createEndpoint"]>[2];
  const { endpoint, secret } = await webhooks
    .createEndpoint(context, organizationId, input)
    .catch((error: unknown) => {
      throw isRefused(error) ? new UsageError(notReachable) : error;
    });
  receiver.trust(secret);
  try {
    terminal.talk(`Receiving at ${receiver.url} for the endpoint ${endpoint.id}. Ctrl-C ends.`);
    terminal.talk(`A running server delivers. A test event: till webhook trigger ${endpoint.id}`);
    await stopped;
  } finally {
    await webhooks.disableEndpoint(context, organizationId, endpoint.id);
    terminal.talk(`Disabled the endpoint ${endpoint.id}.`);
  }
}

/** Whether the settings allow no delivery to this machine. */
function isRefused(error: unknown): boolean {
  return error instanceof Problem && error.code === "webhook_url_refused";
}

function print(terminal: Terminal, { id, type, objectId, body }: ReceivedWebhook): void {
  switch (terminal.form) {
    case "json":
      // One line for each webhook, with the id from its header.
      terminal.data(JSON.stringify({ id, event: JSON.parse(body) as unknown }));
      return;
    case "quiet":
      terminal.data(printable(id));
      return;
    case "people":
      terminal.data(printable(`${type}  ${objectId}  ${id}  (signature verified)`));
  }
}

/** Resolves on Ctrl-C, SIGTERM, and when the reader of a pipe closes it. */
function untilStopped({ surroundings }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve();
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    surroundings.stdout.once("close", stop);
  });
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? "0");
  if (Number.isInteger(port) && port >= 0 && port <= portMax) return port;
  throw new UsageError(`--port must be a whole number from 0 to ${String(portMax)}.`);
}

async function readSecret(path: string): Promise<string> {
  let text: string;
  try {
    text = (await readFile(path, "utf8")).trim();
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`--secret-file: ${path} cannot be read (${reason}).`);
  }
  if (!isWebhookSecret(text)) {
    throw new UsageError("--secret-file must contain an endpoint's secret: whsec_….");
  }
  return text;
}

function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}
