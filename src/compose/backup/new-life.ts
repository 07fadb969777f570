import { basename } from "node:path";
import { restoredKeys, type RestoredKey } from "../../features/api-keys/store.ts";
import { endAllSessions } from "../../features/auth/store.ts";
import { returnedMembers, type ReturnedMember } from "../../features/members/store.ts";
import type { Clock } from "../../kernel/clock.ts";
import { createIds, type RandomBytes } from "../../kernel/id.ts";
import type { Manifest } from "../../platform/backup/backup-file.ts";
import { addRestore } from "../../platform/backup/history.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { newestVersion } from "../../platform/database/schema.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { lastPosition } from "../../platform/events/outbox.ts";
import { createJournal } from "../../platform/journal.ts";

/** Access that a restored store gives again. */
export interface NewLife {
  readonly endedSessions: number;
  /** The API keys that work, those that were revoked since the backup first. */
  readonly keys: readonly RestoredKey[];
  /** The members who were removed since the backup. Unknown, and therefore empty, without a former store. */
  readonly returnedMembers: readonly ReturnedMember[];
}

/** The restore that begins a new life of a store. */
export interface Restoring {
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
export async function beginNewLife(
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
