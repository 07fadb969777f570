import type { Clock } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import type { Progress } from "../../platform/progress.ts";
import type { Config } from "../../platform/config/config.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import { backupFolder, targetOf } from "./files.ts";
import { makeBackup } from "./make-backup.ts";

const NotBackedUp = defineProblem({
  code: "not_backed_up",
  status: 500,
  title: "The store was not migrated",
});

/**
 * Backs up a store that is about to be migrated, and returns the backup's path. Scheduled backups do not remove it.
 * @throws NotBackedUp if the folder of the backups cannot be written
 */
export async function backUpBeforeMigration(
  config: Config,
  secret: ServerSecret,
  { version, instance }: { readonly version: number; readonly instance: string | null },
  clock: Clock,
  progress?: Progress,
): Promise<string> {
  const prefix = `before-migration-of-v${String(version)}`;
  try {
    const { path } = await makeBackup({
      location: config,
      secret,
      clock,
      withSecret: false,
      verify: "file",
      path: await targetOf(config, null, clock.now(), instance, prefix),
      signal: new AbortController().signal,
      ...(progress === undefined ? {} : { progress }),
    });
    return path;
  } catch (error) {
    // Errors of the operating system have a number; the store's own say enough.
    if (!(error instanceof Error && "errno" in error && "syscall" in error)) throw error;
    throw new NotBackedUp(
      `It could not be backed up into ${backupFolder(config)}: ${error.message}. Set TILL_BACKUP_FOLDER to a folder that can be written, or TILL_BACKUP_BEFORE_MIGRATION=0 if you have made a backup yourself.`,
      { cause: error },
    );
  }
}
