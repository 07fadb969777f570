import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { createApp, type Program } from "../../../compose/app.ts";
import {
  createWebhookEndpoint,
  removeWebhookEndpoint,
} from "../../../features/webhooks/endpoints.ts";
import {
  CreateWebhookEndpointRequest,
  type CreateWebhookEndpointInput,
} from "../../../features/webhooks/records.ts";
import { parseBody } from "../../../http/declare/request.ts";
import { Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { WriteContext } from "../../../platform/database/database.ts";
import { lockFile } from "../../../platform/database/sqlite/standalone.ts";
import { createLogger } from "../../../platform/logger/index.ts";
import { isWebhookSecret } from "../../../platform/outbound/standard-webhooks.ts";
import { startReceiver, type ReceivedWebhook, type Receiver } from "../../receiver.ts";
import { UsageError } from "../../failures/refusals.ts";
import { operator } from "../../operator.ts";
import { chooseOrganization } from "../../organization.ts";
import { loadStoreSettings, logLevelOf } from "../../settings.ts";
import { printable, type Terminal } from "../../terminal/terminal.ts";
import { readTextInput } from "../../terminal/text-input.ts";

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

type Flags = Readonly<Record<string, string | boolean | undefined>>;

const portMax = 65_535;
const notReachable =
  "Servers deliver only to the public internet and to TILL_WEBHOOK_ALLOW_CIDRS. Set it to 127.0.0.1/32 for the server and for this command, or give --url with the https URL of a tunnel.";

/**
 * `till webhook listen`: receives webhooks on this machine and prints those with a valid signature, until Ctrl-C.
 * Without --secret-file, it adds an endpoint for itself to the organization, and removes it at the end. Endpoints that
 * killed runs with the same data folder left behind are removed at the start, and never any other.
 */
export async function listenForWebhooks(terminal: Terminal, flags: Flags): Promise<void> {
  const stopped = untilStopped(terminal);
  const port = portOf(textOf(flags, "port"));
  const secretFile = textOf(flags, "secretFile");
  const secret = secretFile === undefined ? null : await readSecret(terminal, secretFile);
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
    const given = flags["organization"];
    const chosen = await chooseOrganization(
      app.db,
      typeof given === "string" ? given : undefined,
      loaded.config.organization,
    );
    const run = await beginRun(loaded.config.dataDir);
    try {
      await receiveFor(app, terminal, flags, {
        receiver,
        stopped,
        organizationId: chosen.id,
        run,
      });
    } finally {
      await run.release();
    }
  } finally {
    for (const note of app.servers.notes()) terminal.talk(note);
    await app.close();
  }
}

async function receiveFor(
  app: Program,
  terminal: Terminal,
  flags: Flags,
  {
    receiver,
    stopped,
    organizationId,
    run,
  }: {
    readonly receiver: Receiver;
    readonly stopped: Promise<void>;
    readonly organizationId: Id<"organization">;
    readonly run: OwnRun;
  },
): Promise<void> {
  const { config, ids, clock } = app;
  const context = { actor: operator(), requestId: terminal.requestId, ip: null };
  const remove = (id: Id<"webhookEndpoint">) => removeIfThere(app, context, organizationId, id);
  await eachAbandoned(config.dataDir, organizationId, async (id) => {
    if (await remove(id)) {
      terminal.talk(`Removed the endpoint ${id}, which an earlier run left behind.`);
    }
  });
  const eventTypes = textOf(flags, "eventTypes")
    ?.split(",")
    .map((type) => type.trim());
  const input = parseBody(CreateWebhookEndpointRequest, {
    url: textOf(flags, "url") ?? receiver.url,
    description: `till webhook listen (${hostname()}:${String(receiver.port)})`,
    ...(eventTypes === undefined ? {} : { eventTypes }),
  }) as CreateWebhookEndpointInput;
  const id = ids.next("webhookEndpoint", clock.now());
  // Before the endpoint exists, so that a run which is killed at any time leaves none that nobody removes.
  await run.remember(organizationId, id);
  const { secret } = await createWebhookEndpoint(app, context, organizationId, input, id).catch(
    async (error: unknown) => {
      // A store that failed may have the endpoint all the same.
      if (error instanceof Problem && error.status < 500) await run.forget();
      throw isProblem(error, "webhook_url_refused") ? new UsageError(notReachable) : error;
    },
  );
  receiver.trust(secret);
  try {
    terminal.talk(`Receiving at ${receiver.url} for the endpoint ${id}. Ctrl-C ends.`);
    terminal.talk(`A running server delivers. A test event: till webhook trigger ${id}`);
    await stopped;
  } finally {
    const wasThere = await remove(id);
    await run.forget();
    terminal.talk(
      wasThere ? `Removed the endpoint ${id}.` : `The endpoint ${id} was already removed.`,
    );
  }
}

/** Removes an endpoint; returns false if it was gone. */
async function removeIfThere(
  app: Program,
  context: WriteContext,
  organizationId: Id<"organization">,
  id: Id<"webhookEndpoint">,
): Promise<boolean> {
  try {
    await removeWebhookEndpoint(app, context, organizationId, id);
    return true;
  } catch (error) {
    if (isProblem(error, "not_found")) return false;
    throw error;
  }
}

function isProblem(error: unknown, code: string): boolean {
  return error instanceof Problem && error.code === code;
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

/** Resolves on Ctrl-C, SIGTERM, when the terminal is closed, and when the reader of a pipe closes it. */
function untilStopped({ surroundings }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of endingSignals) process.off(signal, stop);
      resolve();
    };
    for (const signal of endingSignals) process.once(signal, stop);
    surroundings.stdout.once("close", stop);
  });
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? "0");
  if (Number.isInteger(port) && port >= 0 && port <= portMax) return port;
  throw new UsageError(`--port must be a whole number from 0 to ${String(portMax)}.`);
}

async function readSecret(terminal: Terminal, path: string): Promise<string> {
  const text = (await readTextInput(terminal, path)).trim();
  if (!isWebhookSecret(text)) {
    throw new UsageError("--secret-file must contain an endpoint's secret: whsec_….");
  }
  return text;
}

function textOf(flags: Flags, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

// Each run of `till webhook listen` keeps a locked, empty file in the data folder, whose name says which endpoint the
// run makes. The operating system ends the lock with the process, so nothing else has to prove that a run was killed.

const folderName = "listening";

type OrganizationId = Id<"organization">;
type EndpointId = Id<"webhookEndpoint">;

/** The file of a run. */
interface OwnRun {
  /** Remembers the endpoint that this run is about to make. */
  remember(organizationId: OrganizationId, endpointId: EndpointId): Promise<void>;
  /** Forgets the run, whose endpoint is gone. */
  forget(): Promise<void>;
  /** Lets go of the file; if it was not forgotten, the next run removes its endpoint. */
  release(): Promise<void>;
}

/** Begins the file of a run, under a name that no other run looks at. */
async function beginRun(dataDir: string): Promise<OwnRun> {
  const folder = join(dataDir, folderName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let path = join(folder, randomUUID());
  const lock = await lockFile(path);
  if (lock === null) throw new Error(`${path} is locked by another process`);
  await chmod(path, 0o600);
  let isNamed = false;
  return {
    async remember(organizationId, endpointId) {
      const named = join(folder, `${organizationId}.${endpointId}`);
      // Locked before it has the name, so that it never looks abandoned.
      await rename(path, named);
      path = named;
      isNamed = true;
    },
    forget: () => rm(path, { force: true }),
    async release() {
      if (!isNamed) await rm(path, { force: true });
      await lock.release();
    },
  };
}

/** Calls `remove` with each endpoint of an organization whose run was killed, and then forgets the run. */
async function eachAbandoned(
  dataDir: string,
  organizationId: OrganizationId,
  remove: (endpointId: EndpointId) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, folderName);
  const start = `${organizationId}.`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start)) continue;
    const path = join(folder, name);
    const lock = await lockFile(path);
    // Its run is going on.
    if (lock === null) continue;
    try {
      await remove(name.slice(start.length) as EndpointId);
      await rm(path, { force: true });
    } finally {
      await lock.release();
    }
  }
}
