import type { Clock } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import type { Progress } from "../../platform/progress.ts";
import type { TableContent } from "../../platform/backup/backup-file.ts";
import { migrate, newestVersion } from "../../platform/database/schema.ts";
import { systemContext, type Database, type Reader } from "../../platform/database/database.ts";
import { StoreInUse, type FormerContent } from "../../platform/database/transfer/new-store.ts";
import { openNewStore } from "../../platform/database/transfer/open-new-store.ts";
import {
  fillStore,
  type TablePart,
  type TableShape,
} from "../../platform/database/transfer/rows.ts";
import { heldLeases } from "../../platform/jobs/leases.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import { storeFile, storeName, type StoreLocation } from "../store-location.ts";
import { requireFittingSecret } from "../store-secret.ts";
import { momentOf } from "./files.ts";
import { brokenChecks, requireEqualRows } from "./make-backup.ts";

/** The content breaks rules of `till db verify`. The code gives the exit code of a failed health check. */
const ContentBroken = defineProblem({
  code: "unhealthy",
  status: 503,
  title: "The content of the store is not valid",
});

/** More than the number of times that a lease changes hands between a backup and its restore. */
const tokenGap = 1_000_000;

export interface FillOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether to run the checks of `till db verify` before the new store becomes the store. Rows are always compared. */
  readonly verifies: boolean;
  /** Ends the work before the new store becomes the store; nothing is left behind. */
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

/** The content of a new store, and what happens around its last step. */
interface Filling {
  /** The migration level of the content. */
  readonly level: number;
  readonly tables: readonly TableShape[];
  readonly parts: AsyncIterable<Pick<TablePart, "table" | "text">>;
  /** Returns what the store must contain, once `parts` has ended. */
  readonly contents: () => readonly TableContent[];
  /** Takes over what the new store needs of the former store. Throws if that one must stay. */
  readonly lastStep: (former: FormerContent, newStore: Database) => Promise<void>;
  readonly beforeReplace?: () => Promise<void>;
  /** Called directly before the atomic step that puts it into the location. */
  readonly beforeSwitch?: () => Promise<void>;
}

export interface FilledStore {
  /** The name of the former store; null if there was none. */
  readonly formerName: string | null;
  /** The migration level of the store. */
  readonly migration: number;
  /** Whether the checks of `till db verify` ran; they are for stores of the current level only. */
  readonly isVerified: boolean;
}

export function addressOfStore(
  location: StoreLocation,
): { readonly url: string } | { readonly sqliteFile: string } {
  return location.databaseUrl === null
    ? { sqliteFile: storeFile(location) }
    : { url: location.databaseUrl };
}

/** Fills a store beside the one at a location, verifies it, and then puts it there in one atomic step. */
export async function fillNewStore(
  location: StoreLocation,
  secret: ServerSecret,
  options: FillOptions & { readonly migrates: boolean },
  filling: Filling,
): Promise<FilledStore> {
  const { clock, logger, signal, progress } = options;
  const newStore = await openNewStore(addressOfStore(location), logger);
  try {
    const { db } = newStore;
    await fillStore(db, clock, filling.level, filling);
    await requireEqualRows(db, filling.contents(), signal, progress);
    if (options.migrates) {
      await migrate(db, clock, progress);
      await requireFittingSecret(db, location, "migrate", secret, logger);
    }
    const migration = options.migrates ? newestVersion : filling.level;
    const isVerified = options.verifies && migration === newestVersion;
    if (isVerified) await requireSound(db, secret, signal);
    // They belong to servers of the store that was copied. A paused one may hold tokens from after the backup.
    await db.write(systemContext("restore"), (tx) =>
      tx.run(`UPDATE leases SET until = 0, token = token + ${String(tokenGap)}`),
    );
    signal.throwIfAborted();
    await filling.beforeReplace?.();
    const formerName = await newStore.replace(
      momentOf(clock.now()).toLowerCase(),
      (former) => filling.lastStep(former, db),
      () => filling.beforeSwitch?.() ?? Promise.resolve(),
    );
    return { formerName, migration, isVerified };
  } finally {
    await newStore.discard();
  }
}

async function requireSound(
  reader: Reader,
  secret: ServerSecret,
  signal: AbortSignal,
): Promise<void> {
  const broken = await brokenChecks(reader, secret, signal);
  if (broken.length === 0) return;
  const found = broken.map(
    ({ check, violations: [first] }) => `${check.name} (${first?.row ?? ""})`,
  );
  throw new ContentBroken(
    `Nothing was changed, because checks of till db verify fail: ${found.join(", ")}. Use another backup, or add --no-verify to take these rows over.`,
  );
}

/**
 * Refuses a PostgreSQL store on which a server runs. The lock of the data folder does that for SQLite.
 * @throws StoreInUse
 */
export async function refuseServers(
  location: StoreLocation,
  reader: Reader,
  clock: Clock,
): Promise<void> {
  if (location.databaseUrl === null) return;
  const leases = [...(await heldLeases(reader, clock.now()))].sort();
  if (leases.length === 0) return;
  throw new StoreInUse(
    `A server runs on ${storeName(location)}: it holds ${leases.join(", ")}. Stop every server of the store. The leases of a killed one end within two minutes.`,
  );
}
