import type { App } from "../app.ts";
import { makeApp } from "../make-app.ts";
import { servingOf } from "../compose/servers.ts";
import { secretFor, secretOf } from "../compose/store-secret.ts";
import {
  isUsualStore,
  noStore,
  requireStoreFile,
  storeBehind,
  storeFile,
  storeName,
} from "../compose/store-location.ts";
import { systemClock } from "../kernel/clock.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database } from "../platform/database/database.ts";
import { openForReading } from "../platform/database/open.ts";
import { currentVersion } from "../platform/database/schema/migrate.ts";
import { createLogger, type Logger } from "../platform/logger/index.ts";
import { noMetrics } from "../platform/metrics/metrics.ts";
import { passwordCost } from "../platform/secrets/passwords.ts";
import { systemRandom } from "../platform/secrets/tokens.ts";
import { fingerprint, type ServerSecret } from "../platform/secrets/server-secret.ts";
import { loadStoreSettings, type Flags } from "./settings.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The open store of a command, with the app on it. */
export interface OpenStore {
  readonly app: App;
  readonly storeName: string;
  /** As for `isUsualStore`. */
  readonly isUsualStore: boolean;
  /** The setting TILL_ORGANIZATION. */
  readonly organization: string | null;
  /** Lines for the operator about settings in which the server differs from this command. */
  notes(): readonly string[];
  close(): Promise<void>;
}

/**
 * Opens the configured store.
 * @param isReadOnly whether the command only reads: the store is then opened for writing with the first write, such as
 *   that of an export which records itself
 * @throws ConfigError
 */
export async function openForCommand(
  terminal: Terminal,
  flags: Flags,
  isReadOnly: boolean,
): Promise<OpenStore> {
  const { config: own } = await loadStoreSettings(terminal, "cli", flags);
  const logger = createLogger({ level: terminal.isVerbose ? own.logLevel : "error" });
  const [clock, randomBytes] = [systemClock, systemRandom];
  const opened = await openCommandStore(own, logger, isReadOnly);
  const { db, secret } = opened;
  const stop = new AbortController();
  const close = async () => {
    stop.abort();
    await opened.close();
  };
  try {
    const serving = servingOf(own, db, { clock, name: "command" });
    // Commands show the links of the server, which payers can reach, and issue on the networks that it reads.
    await serving.follow();
    const enabled = serving.networks(own);
    const { baseUrl, listening } = serving;
    const outside = { clock, randomBytes, logger, metrics: noMetrics, passwordCost };
    const { signal: stopping } = stop;
    const app = makeApp({
      ...outside,
      config: own,
      enabled,
      db,
      secret,
      baseUrl,
      listening,
      stopping,
    });
    return {
      app,
      storeName: storeName(own),
      isUsualStore: isUsualStore(own),
      organization: own.organization,
      notes: () => serving.notes(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openCommandStore(
  config: Config,
  logger: Logger,
  isReadOnly: boolean,
): Promise<{
  readonly db: Database;
  readonly secret: ServerSecret;
  readonly close: () => Promise<void>;
}> {
  const openForWriting = async () => {
    const { openStore } = await import("../compose/store.ts");
    return openStore(config, "use", { clock: systemClock, logger, randomBytes: systemRandom });
  };
  if (!isReadOnly) {
    const { db, secret } = await openForWriting();
    return { db, secret, close: () => db.close() };
  }
  await requireStoreFile(config);
  const { databaseUrl } = config;
  const secret = await secretFor(config, false, systemRandom);
  const store = await openForReading(
    databaseUrl === null ? { sqliteFile: storeFile(config) } : { url: databaseUrl },
  );
  let writer: Promise<Database> | null = null;
  const writable = () => (writer ??= openForWriting().then((opened) => opened.db));
  const db: Database = {
    ...store,
    write: async (context, fn, foreseen) => (await writable()).write(context, fn, foreseen),
  };
  const close = async () => {
    await (await writer?.catch(() => null))?.close();
    await store.close();
  };
  try {
    if ((await currentVersion(store)) === 0) throw noStore(config);
    if (store.pending.length > 0) throw storeBehind(config, store.pending.length);
    const known = await secretOf(store);
    if (known !== null && known !== fingerprint(secret)) {
      const { requireFittingSecret } = await import("../compose/store-secret.ts");
      await requireFittingSecret(db, config, "use", secret, logger);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { db, secret, close };
}
