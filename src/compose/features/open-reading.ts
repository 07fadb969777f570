import { systemClock } from "../../kernel/clock.ts";
import { ConfigError } from "../../platform/config/config.ts";
import { loadPlainSettings, type LoadOptions } from "../../platform/config/load.ts";
import { openForReading } from "../../platform/database/read-only.ts";
import type { Database } from "../../platform/database/database.ts";
import { systemRandom } from "../../platform/secrets/random.ts";
import { fingerprint, loadServerSecret } from "../../platform/secrets/server-secret.ts";
import { servingOf } from "../servers.ts";
import { secretOf } from "../store-fingerprint.ts";
import { isUsualStore, requireStoreFile, storeFile, storeName } from "../store-place.ts";
import { readers, type ServiceName, type ServiceOf } from "./readers.ts";
import { WholeProgramNeeded } from "./whole-program-needed.ts";

/**
 * Opens a store for reading, with one service, in a fraction of the time of the whole program. A store that is not in
 * order starts the command over in the whole program, which says what is wrong.
 * @throws ConfigError
 * @throws WholeProgramNeeded
 */
export async function openStoreForReading<Name extends ServiceName>(
  options: LoadOptions,
  name: Name,
): Promise<{
  readonly db: Database;
  readonly service: ServiceOf<Name>;
  readonly storeName: string;
  readonly isUsualStore: boolean;
  readonly organization: string | null;
  /** As for `Serving`. */
  notes(): readonly string[];
  close(): Promise<void>;
}> {
  const make = readers[name];
  if (make === undefined) throw new WholeProgramNeeded();
  const { settings, tables } = await loadPlainSettings(options);
  await requireStoreFile(settings);
  const { databaseUrl, dataDir, organization } = settings;
  const secret = await loadServerSecret({
    text: settings.secret,
    file: settings.secretFile,
    dataFolder: databaseUrl === null ? dataDir : null,
    mayMake: false,
    randomBytes: systemRandom,
  });
  const store = await openForReading(
    databaseUrl === null ? { sqliteFile: storeFile(settings) } : { url: databaseUrl },
  );
  try {
    const isMigrated = store.pending.length === 0;
    if (!isMigrated || (await secretOf(store)) !== fingerprint(secret)) {
      throw new WholeProgramNeeded();
    }
    const db = { ...store, write: () => Promise.reject(new WholeProgramNeeded()) };
    const clock = systemClock;
    const serving = servingOf({ ...settings, networks: [] }, db, { clock, name: "command" });
    await serving.follow();
    const { baseUrl } = serving;
    const networks = async () => {
      const configured = await tables.networks();
      return { ...configured, ...serving.networks(configured) };
    };
    return {
      db,
      storeName: storeName(settings),
      isUsualStore: isUsualStore(settings),
      organization,
      service: await make({ db, clock, secret, baseUrl, ...tables, networks }),
      notes: () => serving.notes(),
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    // The whole program loads all tables, and reports the problems of all at once.
    throw error instanceof ConfigError ? new WholeProgramNeeded() : error;
  }
}
