import { resolve } from "node:path";
import { copyStore, type CopiedStore } from "../../compose/backup/copy.ts";
import { secretFor } from "../../compose/store-secret.ts";
import { storeName } from "../../compose/store-location.ts";
import { systemClock } from "../../kernel/clock.ts";
import { databaseUrl, readValue } from "../../platform/config/setting.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { interruptibly } from "../interrupt.ts";
import { refuseStream, UsageError } from "../failures/refusals.ts";
import { loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import { printLines } from "../terminal/output.ts";
import { withProgress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { withFolderLocked } from "./restore.ts";

/** A location as in the settings. */
interface Target {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

/** `till db copy`: copies the stopped store to an empty database or data folder, and compares every row. */
export async function copyStoreCommand(terminal: Terminal, flags: Flags): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  const target = parseTarget(flags["to"]);
  const secret = await secretFor(config, false, systemRandom);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const copy = () =>
    withProgress(terminal, (progress) =>
      interruptibly((signal) =>
        copyStore(config, target, secret, {
          clock: systemClock,
          logger,
          signal,
          progress,
          verifies: flags["verify"] !== false,
        }),
      ),
    );
  // A copy into the store's own folder is refused by the copy itself.
  const isSame = config.databaseUrl === null && resolve(config.dataDir) === target.dataDir;
  const copied = await withFolderLocked(config, () =>
    isSame ? copy() : withFolderLocked(target, copy),
  );
  await print(terminal, { from: storeName(config), target }, copied);
}

function parseTarget(given: unknown): Target {
  if (typeof given !== "string" || given === "") {
    throw new UsageError("Give --to: a URL such as postgres://host/till, or a data folder.");
  }
  refuseStream("A store", given);
  if (!/^[a-z]+:\/\//i.test(given)) return { dataDir: resolve(given), databaseUrl: null };
  try {
    return { dataDir: "", databaseUrl: readValue(databaseUrl, given, "") };
  } catch (error) {
    throw new UsageError(`--to ${error instanceof Error ? error.message : ""}.`);
  }
}

async function print(
  terminal: Terminal,
  { from, target }: { readonly from: string; readonly target: Target },
  { rows, tables, isVerified, migration }: CopiedStore,
): Promise<void> {
  const to = storeName(target);
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify({ from, to, tables, rows, migration, verified: isVerified }));
      return;
    case "quiet":
      terminal.data(to);
      return;
    case "people":
      await printLines(terminal, [
        ["From", from],
        ["To", to],
        ["Rows", `${String(rows)} in ${String(tables)} tables, each compared`],
        [
          "Verified",
          isVerified ? "all checks of till db verify passed" : "rows only (--no-verify)",
        ],
      ]);
      terminal.talk(
        target.databaseUrl === null
          ? "Next: stop using DATABASE_URL, set TILL_DATA_DIR to the folder and keep the secret, then run till serve"
          : "Next: set DATABASE_URL, and TILL_SECRET_FILE to the file of the secret, then run till serve",
      );
  }
}
