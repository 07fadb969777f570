import type { ServiceName, ServiceOf } from "../compose/features/readers.ts";
import type { Services } from "../compose/features/services.ts";
import type { Reader } from "../platform/database/database.ts";
import { sandboxOff } from "./failures/refusals.ts";
import { loadStoreSettings, logLevelOf, storeOptions, type Flags } from "./settings.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The open store of a feature's command, with its service. */
export interface OpenStore<Service> {
  readonly db: Reader;
  readonly service: Service;
  readonly storeName: string;
  /** As for `isUsualStore`. */
  readonly isUsualStore: boolean;
  /** The setting TILL_ORGANIZATION. */
  readonly organization: string | null;
  /** Lines for the operator about settings in which the server differs from this command. */
  notes(): readonly string[];
  close(): Promise<void>;
}

/** Opens the store for reading, with nothing but the service. @throws WholeProgramNeeded if that is not enough */
export async function openLight<Name extends ServiceName>(
  terminal: Terminal,
  flags: Flags,
  name: Name,
): Promise<OpenStore<ServiceOf<Name>>> {
  const { openStoreForReading } = await import("../compose/features/open-reading.ts");
  return openStoreForReading(storeOptions(terminal, flags), name);
}

/** Opens the store with the whole program. */
export async function openWhole<Name extends ServiceName>(
  terminal: Terminal,
  flags: Flags,
  name: Name,
): Promise<OpenStore<ServiceOf<Name>>> {
  const { createApp } = await import("../compose/app.ts");
  const { isUsualStore, storeName } = await import("../compose/store-place.ts");
  const { createLogger } = await import("../platform/logger/index.ts");
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const app = await createApp(config, "use", { logger });
  const service = (app as Services)[name] as ServiceOf<Name> | null;
  if (service === null) {
    await app.close();
    throw sandboxOff();
  }
  return {
    db: app.db,
    service,
    storeName: storeName(config),
    isUsualStore: isUsualStore(config),
    organization: config.organization,
    notes: () => app.servers.notes(),
    close: () => app.close(),
  };
}
