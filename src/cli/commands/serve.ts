import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createApp, type Program } from "../../compose/app.ts";
import { noStore, requireStoreFile, storeName } from "../../compose/store-location.ts";
import { isInitialized } from "../../features/admin/installation.ts";
import { wordDifference } from "../../features/admin/status/servers.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { proxyWarnings } from "../../platform/forwarding.ts";
import { createPrometheus } from "../../platform/metrics/prometheus.ts";
import { programVersion } from "../../platform/files.ts";
import { createLogger, type Logger } from "../../platform/logger/index.ts";
import { startServing, untilAskedToStop, type Serving } from "../serving.ts";
import { growAgain, optimizeAgain } from "../small-start.ts";
import { lockDataFolder, type DataFolderLock } from "../single-server.ts";
import { loadSettings, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Ends a start that waits. */
class AskedToStop extends Error {
  override readonly name = "AskedToStop";
}

/** `till serve`: runs the server until a signal stops it. */
export async function serve(terminal: Terminal, flags: Flags): Promise<void> {
  const asked = untilAskedToStop();
  const { config } = await loadSettings(terminal, "serve", flags);
  const logger = createLogger({ level: config.logLevel, format: config.logFormat });
  await requireStoreFile(config);
  const lock = config.databaseUrl === null ? await lockDataFolder(config.dataDir) : null;
  const starting = new AbortController();
  void asked.then((signal) => {
    starting.abort(new AskedToStop(signal));
  });
  try {
    await serveInPlace(terminal, config, logger, lock, asked, starting.signal);
  } catch (error) {
    if (!(error instanceof AskedToStop)) throw error;
    logger.info({ signal: error.message }, "stopped before the start");
  } finally {
    await lock?.leave();
  }
}

async function serveInPlace(
  terminal: Terminal,
  config: Config,
  logger: Logger,
  lock: DataFolderLock | null,
  asked: Promise<NodeJS.Signals>,
  starting: AbortSignal,
): Promise<void> {
  optimizeAgain();
  const metrics = createPrometheus({ version: programVersion(), logger });
  const app = await createApp(config, "migrate", { logger, metrics, starting });
  const serving = await startIn(app, config);
  growAgain();
  endWithDefects(logger);
  await lock?.announce(serving.url);
  await printStart(app, serving, logger);
  if (terminal.form === "json")
    terminal.data(JSON.stringify({ url: serving.url, pid: process.pid }));
  else terminal.data(`Till is ready at ${serving.url}`);
  await tellSystemd(terminal, "ready", logger);
  const signal = await asked;
  await tellSystemd(terminal, "stopping", logger);
  logger.info({ signal }, "stopping");
  await serving.stop();
  logger.info("stopped");
}

/** Starts the server, or closes the app on failure. */
async function startIn(app: Program, config: Config): Promise<Serving> {
  try {
    if (!(await isInitialized(app.db))) throw noStore(config);
    return await startServing(app, { host: config.host, ports: [config.port] });
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function printStart(app: Program, { url }: Serving, logger: Logger): Promise<void> {
  const { config, version } = app;
  logger.info(
    {
      version,
      store: storeName(config),
      networks: config.networks.map(({ id }) => id),
      url,
      docs: `${url}/docs`,
      baseUrl: app.baseUrl(),
    },
    "ready",
  );
  for (const difference of await app.servers.differences()) {
    logger.warn(wordDifference(difference, "this server"));
  }
  for (const warning of await proxyWarnings(config, app.db, systemClock.now())) {
    logger.warn(warning);
  }
  if (config.baseUrl === null && !["127.0.0.1", "::1", "localhost"].includes(config.host)) {
    logger.warn(
      { baseUrl: app.baseUrl() },
      "links contain the address on which the server listens: set TILL_BASE_URL to the address at which payers reach it",
    );
  }
}

/** Exits on an uncaught error, because the state of the process is unknown. Every acknowledged write is on disk. */
function endWithDefects(logger: Logger): void {
  process.on("uncaughtException", (error) => {
    logger.error({ err: error }, "uncaught error: the server exits");
    process.exit(1);
  });
}

const run = promisify(execFile);
/** The time limit of a notice, in milliseconds. */
const noticeMs = 5_000;

/**
 * Tells systemd that the server is ready, or that it stops; does nothing unless systemd has started it with
 * `Type=notify`. Node has no unix datagram sockets, so systemd's own command sends the notice, for which the unit needs
 * `NotifyAccess=all`.
 */
export async function tellSystemd(
  { surroundings: { env } }: Pick<Terminal, "surroundings">,
  notice: "ready" | "stopping",
  logger: Logger,
): Promise<void> {
  const { NOTIFY_SOCKET: socket } = env;
  if (socket === undefined || socket === "") return;
  try {
    const state = notice === "ready" ? "READY=1" : "STOPPING=1";
    await run("systemd-notify", [state], { env, timeout: noticeMs });
  } catch (error) {
    logger.warn({ err: error }, "systemd could not be told: is systemd-notify installed?");
  }
}
