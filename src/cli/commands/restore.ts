import { mkdir } from "node:fs/promises";
import {
  planRestore,
  restoreBackup,
  type RestoredStore,
  type RestorePlan,
} from "../../compose/backup/restore.ts";
import { skippedAddresses } from "../../features/wallets/after-restore.ts";
import { storeName } from "../../compose/store-location.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { interruptibly } from "../interrupt.ts";
import { refuseStream } from "../failures/refusals.ts";
import { operator } from "../operator.ts";
import { lockDataFolder } from "../single-server.ts";
import { loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import { printLines, printTable } from "../terminal/output.ts";
import { withProgress } from "../terminal/progress.ts";
import { confirm, requireConsent } from "../terminal/prompts.ts";
import type { Terminal } from "../terminal/terminal.ts";

/**
 * `till restore`: puts a backup into the place of the configured store, which is kept beside it. Refused while a server
 * runs. Everything is checked before the store changes.
 */
export async function restoreStore(terminal: Terminal, flags: Flags, file: string): Promise<void> {
  refuseStream("A backup", file);
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const outside = { clock: systemClock, randomBytes: systemRandom };
  const acceptsOtherInstance = flags["forceOtherInstance"] === true;
  const plan = await planRestore(config, file, { ...outside, acceptsOtherInstance });
  if (plan.former !== null) {
    requireConsent(terminal);
    describePlan(terminal, config, plan);
    await confirm(terminal, "Replace the store?");
  }
  const restored = await withFolderLocked(config, () =>
    withProgress(terminal, (progress) =>
      interruptibly((signal) =>
        restoreBackup(config, plan, {
          ...outside,
          logger,
          signal,
          progress,
          actor: operator(),
          verifies: flags["verify"] !== false,
          migrates: flags["migrate"] !== false,
        }),
      ),
    ),
  );
  await print(terminal, config, plan, restored);
}

/** Keeps servers away from a SQLite store meanwhile. On PostgreSQL, their leases are checked instead. */
export async function withFolderLocked<T>(
  { dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">,
  work: () => Promise<T>,
): Promise<T> {
  if (databaseUrl !== null) return work();
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = await lockDataFolder(dataDir);
  try {
    return await work();
  } finally {
    await lock.leave();
  }
}

function describePlan(terminal: Terminal, config: Config, { manifest, former }: RestorePlan): void {
  const formerInWords = former?.isReadable === true ? "it" : "it, which is damaged,";
  terminal.talk(
    `${storeName(config)} will be replaced by the backup of ${manifest.createdAt}; ${formerInWords} is kept beside it.`,
  );
}

async function print(
  terminal: Terminal,
  config: Config,
  { manifest, bringsSecret, former }: RestorePlan,
  { formerName, migration, isVerified, newLife }: RestoredStore,
): Promise<void> {
  const { createdAt, instance, auditHead, tables } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  switch (terminal.form) {
    case "json":
      terminal.data(
        JSON.stringify({
          store: storeName(config),
          createdAt,
          instance,
          rows,
          auditHead,
          migration,
          verified: isVerified,
          broughtSecret: bringsSecret,
          formerStore: formerName,
          endedSessions: newLife?.endedSessions ?? 0,
          keys: newLife?.keys ?? [],
          returnedMembers: newLife?.returnedMembers ?? [],
        }),
      );
      return;
    case "quiet":
      terminal.data(instance ?? "");
      return;
    case "people":
      await printLines(terminal, [
        ["Store", storeName(config)],
        ["Backup of", createdAt],
        ["Rows", `${String(rows)}, each compared with the backup`],
        ["Migration level", String(migration)],
        [
          "Verified",
          isVerified ? "all checks of till db verify passed, the audit log among them" : "no",
        ],
        ["Audit head", auditHead ?? "-"],
        ["Former store", formerName ?? "none"],
        ...(bringsSecret ? [["Secret", "taken from the backup"] as const] : []),
        [
          "Sessions",
          newLife === null ? "as in the backup" : `${String(newLife.endedSessions)} ended`,
        ],
      ]);
      if (newLife === null) {
        terminal.talk(
          "The store keeps an earlier migration level: end sessions and revoke API keys with the program that serves it.",
        );
      } else await printAccess(terminal, newLife);
      if (former?.isReadable !== true) {
        terminal.talk(
          `No former store could be read, so the next invoice of each extended key uses an address ${skippedAddresses.toLocaleString("en")} later. Raise the gap limit of your wallet.`,
        );
      }
      if (auditHead !== null) {
        terminal.talk("Compare with a head that you kept elsewhere: till audit verify --head …");
      }
      terminal.talk("Next: till serve");
  }
}

/** The number of API keys and members that are listed; `--json` has all of them. */
const listedMax = 20;

/** Lists access that the backup gives again. */
async function printAccess(
  terminal: Terminal,
  { keys, returnedMembers }: NonNullable<RestoredStore["newLife"]>,
): Promise<void> {
  if (keys.length > 0) {
    terminal.talk(
      "These API keys work again. Revoke those that you revoked since: till key revoke ID",
    );
    const rows = keys
      .slice(0, listedMax)
      .map(({ id, name, organization, isRevokedSince }) => [
        ...[id, name, organization],
        isRevokedSince === null ? "?" : isRevokedSince ? "yes" : "no",
      ]);
    await printTable(terminal, ["KEY", "NAME", "ORGANIZATION", "REVOKED SINCE"], rows);
    sayRest(terminal, keys.length, "till key list");
  }
  if (returnedMembers.length > 0) {
    terminal.talk("These people were removed since and are members again. Remove them again:");
    const rows = returnedMembers
      .slice(0, listedMax)
      .map(({ email, organization, role }) => [email, organization, role]);
    await printTable(terminal, ["E-MAIL", "ORGANIZATION", "ROLE"], rows);
    sayRest(terminal, returnedMembers.length, "till restore --json");
  }
}

function sayRest(terminal: Terminal, count: number, where: string): void {
  if (count > listedMax) terminal.talk(`${String(count - listedMax)} more: ${where}`);
}
