import { link, mkdir, open as openFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { restoredKeys, type RestoredKey } from "../../features/api-keys/store.ts";
import { endAllSessions } from "../../features/auth/store.ts";
import { returnedMembers, type ReturnedMember } from "../../features/members/store.ts";
import { platformOrganizationId } from "../../features/organizations/store.ts";
import { leaveToMerchants } from "../../features/invoices/holds/addresses.ts";
import { continueIndexes, spendBackedUp } from "../../features/wallets/after-restore.ts";
import type { Actor } from "../../kernel/actor.ts";
import type { Clock } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { addRestore } from "../../platform/backup/history.ts";
import { lastPosition } from "../../platform/events/outbox.ts";
import { createJournal } from "../../platform/journal.ts";
import { counted, unwatched } from "../../platform/progress.ts";
import { createIds, type RandomBytes } from "../../kernel/id.ts";
import {
  backupParts,
  BackupTooNew,
  BackupTooOld,
  damaged,
  inspectBackup,
  type InspectedBackup,
  type Manifest,
} from "../../platform/backup/backup-file.ts";
import type { Config } from "../../platform/config/config.ts";
import { currentVersion, oldestTill } from "../../platform/database/schema/migrate.ts";
import { newestVersion, oldestVersion } from "../../platform/database/schema.ts";
import { openForReading } from "../../platform/database/open.ts";
import { StatementFailed, StoreUnavailable } from "../../platform/database/errors.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import {
  deriveKey,
  fingerprint,
  parseSecret,
  SecretUnusable,
  secretText,
  type ServerSecret,
} from "../../platform/secrets/server-secret.ts";
import { exists, copyOwner } from "../../platform/database/sqlite/new-store.ts";
import { storeFile, storeName, type StoreLocation } from "../store-location.ts";
import { secretFor, wrongSecret } from "../store-secret.ts";
import {
  fillNewStore,
  addressOfStore,
  refuseServers,
  type FilledStore,
  type FillOptions,
} from "./fill.ts";
import { syncFolder } from "./files.ts";
import { until } from "./make-backup.ts";

const OtherInstance = defineProblem({
  code: "other_instance",
  status: 409,
  title: "The backup belongs to another instance",
});

/** A restore that can be carried out: the backup is intact, and it fits the secret and the store. */
export interface RestorePlan {
  readonly file: string;
  readonly manifest: Manifest;
  readonly secret: ServerSecret;
  /** The secret comes from the backup, and the data folder gets it. */
  readonly bringsSecret: boolean;
  /** The store that is replaced; null if no store exists at the location. */
  readonly former: FormerStore | null;
}

/** The store at the location to which a backup is restored. */
interface FormerStore {
  readonly instance: string | null;
  /** False if it is too damaged to be read. */
  readonly isReadable: boolean;
}

/**
 * Checks a backup and the location to which it would be restored. Changes nothing.
 * @throws BackupDamaged, BackupTooNew, BackupTooOld, OtherInstance, WrongSecret, SecretUnusable, StoreTooNew,
 *   StoreTooOld, StoreInUse, or the operating system's error if the file cannot be read
 */
export async function planRestore(
  config: Config,
  file: string,
  deps: {
    readonly acceptsOtherInstance: boolean;
    readonly clock: Clock;
    readonly randomBytes: RandomBytes;
  },
): Promise<RestorePlan> {
  const backup = await inspectBackup(file);
  const { manifest } = backup;
  if (manifest.migration > newestVersion) {
    throw new BackupTooNew(
      `The backup has migration level ${String(manifest.migration)}, and this program knows levels up to ${String(newestVersion)}. Restore it with Till ${manifest.tillVersion} or later.`,
    );
  }
  if (manifest.migration < oldestVersion) {
    throw new BackupTooOld(
      `The backup has migration level ${String(manifest.migration)}, and this program knows levels from ${String(oldestVersion)} on. ` +
        `Restore it with Till ${oldestTill}, which migrates it, and then start this program.`,
    );
  }
  const former = await findFormer(config, deps.clock);
  const current = former?.instance ?? null;
  const isOther = current !== null && current !== manifest.instance;
  if (isOther && !deps.acceptsOtherInstance) {
    throw new OtherInstance(
      `The backup is of the instance ${manifest.instance ?? "-"}, and ${storeName(config)} is the store of ${current}. ` +
        "Restore it into another data folder or database, or replace this store with --force-other-instance.",
    );
  }
  const { secret, bringsSecret } = await findSecret(config, backup, deps.randomBytes);
  if (fingerprint(secret) !== manifest.secretFingerprint) {
    throw wrongSecret(`the backup ${file}`, "its store");
  }
  if (!backup.isGenuine(deriveKey(secret, "backups"))) throw damaged("its manifest was altered");
  return { file, manifest, secret, bringsSecret, former };
}

/** A restored store. */
export interface RestoredStore extends FilledStore {
  /** Null if the store keeps an earlier migration level. */
  readonly newLife: NewLife | null;
}

interface RestoreOptions extends FillOptions {
  readonly migrates: boolean;
  readonly randomBytes: RandomBytes;
  /** The person who restores, for the audit log. */
  readonly actor: Actor;
}

/** Carries out a restore. Until its last step, which is atomic, the former store stays unchanged. */
export async function restoreBackup(
  config: Config,
  { file, manifest, secret, bringsSecret }: RestorePlan,
  options: RestoreOptions,
): Promise<RestoredStore> {
  const { signal, clock, randomBytes, actor, progress = unwatched } = options;
  const parts = until(signal, backupParts(file, manifest));
  const restoring = { file, manifest, clock, randomBytes };
  const preparedSecret = bringsSecret ? await prepareSecret(config.dataDir, secret) : null;
  let newLife: NewLife | null = null;
  try {
    const filled = await fillNewStore(config, secret, options, {
      level: manifest.migration,
      tables: manifest.tables,
      parts: counted(parts, progress, "Restoring rows", manifest.parts.length),
      contents: () => manifest.tables,
      async lastStep(former, newStore) {
        // A store without a migration has no tables to take anything over from.
        const isStore =
          former !== null && former !== "damaged" && (await currentVersion(former)) > 0;
        const reader = isStore ? former : null;
        if (reader !== null) await refuseServers(config, reader, clock);
        newLife = await newStore.write({ actor, requestId: null, ip: null }, async (tx) => {
          await continueIndexes(tx, reader);
          await preventAddressReuse(tx);
          return beginNewLife(tx, reader, restoring);
        });
      },
      beforeSwitch: async () => preparedSecret?.publish(),
    });
    return { ...filled, newLife };
  } catch (error) {
    await preparedSecret?.takeBack();
    throw error;
  } finally {
    await preparedSecret?.discard();
  }
}

/** Lets no address that the former store may have given to an invoice since the backup be given again. */
async function preventAddressReuse(tx: Tx): Promise<void> {
  // Stores of earlier migration levels do not have the columns, and their programs gave no address twice.
  if ((await currentVersion(tx)) < newestVersion) return;
  await spendBackedUp(tx);
  await leaveToMerchants(tx);
}

async function findFormer(location: StoreLocation, clock: Clock): Promise<FormerStore | null> {
  if (location.databaseUrl === null && !(await exists(storeFile(location)))) return null;
  try {
    const store = await openForReading(addressOfStore(location));
    try {
      if ((await currentVersion(store)) === 0) return null;
      await refuseServers(location, store, clock);
      return { instance: await platformOrganizationId(store), isReadable: true };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof StatementFailed)) throw error;
    // A PostgreSQL database that does not answer cannot be restored into either.
    if (location.databaseUrl !== null) throw error;
    return { instance: null, isReadable: false };
  }
}

/** Returns the configured secret, or the one in the backup if the data folder has none. */
async function findSecret(
  config: Config,
  backup: InspectedBackup,
  randomBytes: RandomBytes,
): Promise<{ readonly secret: ServerSecret; readonly bringsSecret: boolean }> {
  try {
    return { secret: await secretFor(config, false, randomBytes), bringsSecret: false };
  } catch (error) {
    const isGiven = config.secret !== null || config.secretFile !== null;
    if (isGiven || config.databaseUrl !== null) throw error;
    if (backup.secret === null) {
      throw new SecretUnusable(
        "The backup contains no secret, and neither does the data folder. Set TILL_SECRET or TILL_SECRET_FILE to the secret with which its store was created.",
      );
    }
    return { secret: parseSecret(backup.secret, "the backup"), bringsSecret: true };
  }
}

/** A secret that gets its name in a data folder together with the store. */
interface PreparedSecret {
  /** Gives the file its name. Fails if a secret exists. */
  publish(): Promise<void>;
  /** Takes the name away again, if it was given. */
  takeBack(): Promise<void>;
  discard(): Promise<void>;
}

/** Prepares the secret of a backup beside its path in a data folder that has none. */
async function prepareSecret(dataDir: string, secret: ServerSecret): Promise<PreparedSecret> {
  const path = join(dataDir, "secret");
  const partial = `${path}.restoring`;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await rm(partial, { force: true });
  const file = await openFile(partial, "wx", 0o600);
  try {
    await file.writeFile(`${secretText(secret)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await copyOwner(partial, dataDir);
  let isPublished = false;
  return {
    async publish() {
      // Fails if a secret exists, unlike a rename.
      await link(partial, path);
      isPublished = true;
      await syncFolder(dataDir);
    },
    async takeBack() {
      if (isPublished) await rm(path, { force: true });
    },
    discard: () => rm(partial, { force: true }),
  };
}

/** Access that a restored store gives again. */
interface NewLife {
  readonly endedSessions: number;
  /** The API keys that work, those that were revoked since the backup first. */
  readonly keys: readonly RestoredKey[];
  /** The members who were removed since the backup. Unknown, and therefore empty, without a former store. */
  readonly returnedMembers: readonly ReturnedMember[];
}

/** The restore that begins a new life of a store. */
interface Restoring {
  /** The path of the backup. */
  readonly file: string;
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/**
 * Makes a restore detectable: records it for the cursors of events, ends all sessions, and writes the first audit entry
 * of the new life. Returns null for a store of an earlier migration level, whose tables this program cannot write: there
 * only the record is made.
 */
async function beginNewLife(
  tx: Tx,
  former: Reader | null,
  { file, manifest, clock, randomBytes }: Restoring,
): Promise<NewLife | null> {
  const now = clock.now();
  const ids = createIds(randomBytes);
  const { createdAt: backupCreatedAt, migration, tillVersion, auditHead, instance } = manifest;
  const eventPosition = await lastPosition(tx);
  await addRestore(tx, { id: ids.unguessable("rst"), at: now, backupCreatedAt, eventPosition });
  if ((await currentVersion(tx)) < newestVersion) return null;
  const endedSessions = await endAllSessions(tx, now);
  createJournal({ ids, wake: () => undefined }).record(tx, now, {
    organizationId: null,
    subjectType: "store",
    subjectId: instance ?? "",
    action: "store.restored",
    changes: {
      backup: basename(file),
      backupCreatedAt,
      migration,
      tillVersion,
      auditHead,
      endedSessions,
    },
  });
  return {
    endedSessions,
    keys: await restoredKeys(tx, former, now),
    returnedMembers: await returnedMembers(tx, former),
  };
}
