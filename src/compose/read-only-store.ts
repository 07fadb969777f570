import { statusAtAGlance, type OperationsStatus } from "../features/admin/read-only.ts";
import { deliveryBacklog } from "../features/webhooks/delivery/backlog.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Config } from "../platform/config/index.ts";
import { currentVersion, openForReading } from "../platform/database/index.ts";
import { proxyWarnings } from "../platform/forwarding.ts";
import {
  noStore,
  requireStoreFile,
  storeBehind,
  storeFile,
  type StorePlace,
} from "./store-place.ts";

/** Read-only access to a store, which opens in a fraction of the program's startup time. */
export interface StoreGlance {
  operationsStatus(): Promise<OperationsStatus>;
  /** Warnings about reverse proxies in front of the server, for operators. */
  proxyWarnings(settings: Pick<Config, "trustProxy" | "baseUrl">): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function glanceAtStore(place: StorePlace, clock: Clock): Promise<StoreGlance> {
  await requireStoreFile(place);
  const { databaseUrl } = place;
  const glance = await openForReading(
    databaseUrl === null ? { sqliteFile: storeFile(place) } : { url: databaseUrl },
  );
  try {
    if ((await currentVersion(glance)) === 0) throw noStore(place);
    if (glance.pending.length > 0) throw storeBehind(place, glance.pending.length);
  } catch (error) {
    await glance.close();
    throw error;
  }
  return {
    operationsStatus: () => statusAtAGlance(glance, clock.now(), deliveryBacklog),
    proxyWarnings: (settings) => proxyWarnings(settings, glance, clock.now()),
    close: () => glance.close(),
  };
}
