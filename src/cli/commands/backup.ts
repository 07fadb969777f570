import { instanceAt, noteBackup } from "../../compose/backup/record.ts";
import { makeBackup, type MadeBackup } from "../../compose/backup/make-backup.ts";
import { secretFor } from "../../compose/store-secret.ts";
import { storeName } from "../../compose/store-location.ts";
import { targetOf } from "../../compose/backup/files.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { interruptibly } from "../interrupt.ts";
import { refuseStream, Unhealthy } from "../failures/refusals.ts";
import { loadStoreSettings, type Flags } from "../settings.ts";
import { printLines } from "../terminal/output.ts";
import { withProgress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * `till backup`: backs up the store, which may be in use, and verifies the backup. Exits with a failure if the backed up
 * rows violate checks of `till db verify`; the backup stays.
 */
export async function backUpStore(
  terminal: Terminal,
  flags: Flags,
  target: string | undefined,
): Promise<void> {
  refuseStream("A backup", target);
  const { config } = await loadStoreSettings(terminal, "cli", flags);
  const secret = await secretFor(config, false, systemRandom);
  const now = systemClock.now();
  const path = await targetOf(config, target ?? null, now, await instanceAt(config));
  const made = await withProgress(terminal, (progress) =>
    interruptibly((signal) =>
      makeBackup({
        location: config,
        secret,
        path,
        clock: systemClock,
        signal,
        progress,
        withSecret: flags["withSecret"] === true,
        verify: flags["verify"] === false ? "no" : "store",
      }),
    ),
  );
  await note(terminal, config, made);
  await print(terminal, config, made);
  if (made.broken.length > 0) {
    const names = made.broken.map(({ check }) => check.name).join(", ");
    throw new Unhealthy(
      `The backup is complete, but so are the faults of the store: ${names}. Run till db verify to see the rows.`,
    );
  }
}

/** Records the backup's time in the store, for its age in operations status. The disk may be full or read-only. */
async function note(terminal: Terminal, config: Config, made: MadeBackup): Promise<void> {
  try {
    await noteBackup(config, systemClock, made);
  } catch {
    terminal.talk("The time of the backup could not be recorded in the store.");
  }
}

const verifications: Readonly<Record<MadeBackup["verified"], string>> = {
  store: "every row compared, and all checks of till db verify passed",
  file: "checksums only, because the store has pending migrations",
  no: "no (--no-verify)",
};

async function print(terminal: Terminal, config: Config, made: MadeBackup): Promise<void> {
  const { path, bytes, manifest, verified, broken } = made;
  const { createdAt, migration, instance, containsSecret, auditHead, tables } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  switch (terminal.form) {
    case "json":
      terminal.data(
        JSON.stringify({
          path,
          bytes,
          createdAt,
          migration,
          instance,
          containsSecret,
          auditHead,
          rows,
          verified,
          violatedChecks: broken.map(({ check }) => check.name),
        }),
      );
      return;
    case "quiet":
      terminal.data(path);
      return;
    case "people":
      await printLines(terminal, [
        ["Backup", path],
        ["Store", storeName(config)],
        ["Size", `${(bytes / 1_024 ** 2).toFixed(1)} MiB, ${String(rows)} rows`],
        ["Migration level", String(migration)],
        ["Audit head", auditHead ?? "-"],
        [
          "Verified",
          broken.length > 0 ? "every row compared; some checks failed" : verifications[verified],
        ],
        [
          "Secret",
          containsSecret
            ? "included: whoever reads the file can sign and decrypt as this server"
            : "not included: keep it elsewhere, because the backup is useless without it",
        ],
      ]);
  }
}
