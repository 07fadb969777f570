import { defineProblem } from "../../kernel/errors.ts";

/** The file is not a backup, is truncated, or was altered. */
export const BackupDamaged = defineProblem({
  code: "backup_damaged",
  status: 400,
  title: "The backup cannot be used",
});

export const BackupMissing = defineProblem({
  code: "backup_missing",
  status: 404,
  title: "No backup found",
});

/** The backup is from before the versions that this program migrates. */
export const BackupTooOld = defineProblem({
  code: "backup_too_old",
  status: 409,
  title: "The backup is too old for this program",
});

/** A newer program made the backup. */
export const BackupTooNew = defineProblem({
  code: "backup_too_new",
  status: 409,
  title: "The backup is newer than this program",
});
