import { knownServers, type KnownServer } from "../features/admin/status/servers.ts";
import {
  storedOperationsStatus,
  type OperationsStatus,
} from "../features/admin/status/stored-status.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Config } from "../platform/config/config.ts";
import { currentVersion } from "../platform/database/schema/migrate.ts";
import { openForReading } from "../platform/database/open.ts";
import type { Reader } from "../platform/database/database.ts";
import { proxyWarnings } from "../platform/forwarding.ts";
import {
  noStore,
  requireStoreFile,
  storeBehind,
  storeFile,
  type StoreLocation,
} from "./store-location.ts";

/** Maximum number of organizations without a default wallet that are named. */
const walletWarningsMax = 20;

/** Read-only access to a store, which opens in a fraction of the program's startup time. */
export interface ReadOnlyStore {
  operationsStatus(): Promise<OperationsStatus>;
  /** Warnings about reverse proxies in front of the server, for operators. */
  proxyWarnings(settings: Pick<Config, "trustProxy" | "baseUrl">): Promise<readonly string[]>;
  /**
   * Warnings about organizations that refuse invoices without a walletId on one of the networks, although they have
   * wallets there.
   */
  walletWarnings(settings: Pick<Config, "networks">): Promise<readonly string[]>;
  /** The servers that recorded their settings, the one that commands follow first. */
  servers(): Promise<readonly KnownServer[]>;
  /** The store itself, for checks that have no method here. */
  readonly reader: Reader;
  close(): Promise<void>;
}

export async function openReadOnlyStore(
  location: StoreLocation,
  clock: Clock,
): Promise<ReadOnlyStore> {
  await requireStoreFile(location);
  const { databaseUrl } = location;
  const store = await openForReading(
    databaseUrl === null ? { sqliteFile: storeFile(location) } : { url: databaseUrl },
  );
  try {
    if ((await currentVersion(store)) === 0) throw noStore(location);
    if (store.pending.length > 0) throw storeBehind(location, store.pending.length);
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    operationsStatus: () => storedOperationsStatus(store, clock.now()),
    proxyWarnings: (settings) => proxyWarnings(settings, store, clock.now()),
    async walletWarnings({ networks }) {
      const { withoutDefault } = await import("../features/wallets/store.ts");
      const found = await withoutDefault(
        store,
        networks.map(({ id }) => id),
        walletWarningsMax,
      );
      return found.map(
        ({ organizationId, network }) =>
          `${organizationId} has wallets on ${network} and no active default: its invoices without a walletId are refused. Choose one: till wallet default --organization ${organizationId} --network ${network} --wallet wal_…`,
      );
    },
    servers: () => knownServers(store, clock.now()),
    reader: store,
    close: () => store.close(),
  };
}
