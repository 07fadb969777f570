import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defineProblem } from "../../kernel/errors.ts";
import { second, systemClock } from "../../kernel/clock.ts";
import {
  ConfigError,
  type Config,
  type LoadedConfig,
  type ReportedSetting,
} from "../../platform/config/config.ts";
import { checkBackupFolder, checkDisk, checkModes } from "../doctor/folder-checks.ts";
import { ok, problem, reasonOf, warning, type Finding } from "../doctor/finding.ts";
import { checkProviders, checkServer, judgeClock, noServer } from "../doctor/network-checks.ts";
import { makeReport } from "../doctor/report.ts";
import { checkProxy, describeProxy, checkStore, type StoreChecks } from "../doctor/store-checks.ts";
import { UsageError } from "../failures/refusals.ts";
import { loadSettings, type Flags } from "../settings.ts";
import { printTable } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";

const ProblemsFound = defineProblem({
  code: "problems_found",
  status: 422,
  title: "Some checks found problems",
});

/**
 * `till doctor`: checks the installation and says in one line what to do about each finding. With --fix it restricts the
 * modes of files and creates missing folders. Fails with exit code 1 if a problem is left. Every request has a time
 * limit, so that it works without a network and while the server is stopped.
 */
export async function examine(terminal: Terminal, flags: Flags): Promise<void> {
  const isFixing = flags["fix"] === true;
  const files = await checkModes(...guardedFiles(terminal, flags), isFixing);
  const settings = await readSettings(terminal, flags);
  const { config } = settings;
  const report = flags["report"];
  const store = config === null ? null : await checkStore(config, typeof report === "string");
  const findings = [
    settings.finding,
    ...files,
    ...(config === null || store === null ? [] : await examineWith(config, store, isFixing)),
  ];
  if (typeof report === "string") {
    const isOpen = flags["reportAddresses"] === true;
    const text = makeReport(findings, settings.reported, store, isOpen);
    if (report === "-") {
      terminal.data(text.trimEnd());
      failIfNeeded(findings);
      return;
    }
    await writeFile(report, text, { mode: 0o600, flag: "wx" }).catch((error: unknown) => {
      throw new UsageError(`--report: ${report} cannot be created: ${reasonOf(error)}.`);
    });
    const masked = isOpen ? "secrets are" : "secrets, names and addresses are";
    terminal.talk(`The report is in ${report}; ${masked} masked. Read it before you send it.`);
  }
  await print(terminal, findings);
  failIfNeeded(findings);
}

async function examineWith(
  config: Config,
  store: StoreChecks,
  isFixing: boolean,
): Promise<Finding[]> {
  const [server] = store.servers;
  const isRunning = server?.isRunning === true;
  const baseUrl = server?.settings.baseUrl ?? "";
  const [folders, asked, providers] = await Promise.all([
    checkBackupFolder(config.backupFolder, isFixing).then(async (found) => [
      ...found,
      ...(await checkDisk([
        ...(config.databaseUrl === null ? [config.dataDir] : []),
        ...(config.backupFolder === null ? [] : [config.backupFolder]),
      ])),
    ]),
    isRunning ? checkServer(baseUrl, systemClock.now()) : null,
    checkProviders(config),
  ]);
  const proxy = isRunning ? await checkProxy(config) : [describeProxy(config)];
  const { newest } = providers;
  const clock: Finding[] = [];
  if (asked?.isClockChecked !== true && newest !== null) {
    // Only a block from the future proves that the clock is late; an old one may be the provider's fault.
    const ahead = Math.max(0, newest.block - newest.asked);
    clock.push(
      judgeClock(ahead, `${String(Math.round(ahead / second))} s behind the newest block`),
    );
  }
  return [
    ...store.findings,
    ...folders,
    ...(asked === null ? [noServer()] : asked.findings),
    ...proxy,
    ...clock,
    ...providers.findings,
  ];
}

/** Finds the files to guard without loading the settings, which fail if others can write their file. */
function guardedFiles(
  { surroundings: { env } }: Terminal,
  flags: Flags,
): [{ dataDir: string }, { settings: string | null; secret: string | null }] {
  const given = (flag: unknown, variable: string) =>
    typeof flag === "string" ? flag : (env[variable] ?? "").trim();
  const dataDir = resolve(given(flags["dataDir"], "TILL_DATA_DIR") || "data");
  const settings = given(flags["config"], "TILL_CONFIG_FILE");
  const secret = given(undefined, "TILL_SECRET_FILE");
  return [
    { dataDir },
    {
      settings: settings === "" ? join(dataDir, "till.yaml") : resolve(settings),
      secret: secret === "" ? null : resolve(secret),
    },
  ];
}

async function readSettings(
  terminal: Terminal,
  flags: Flags,
): Promise<{
  readonly finding: Finding;
  readonly config: Config | null;
  readonly reported: readonly ReportedSetting[];
}> {
  let loaded: LoadedConfig;
  try {
    loaded = await loadSettings(terminal, "serve", flags);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.problems.map(({ name, message }) => `${name} ${message}`).join("; ");
    const finding = problem(
      "settings",
      `${faults}.`,
      "Correct them; till config check repeats this",
    );
    return { finding, config: null, reported: error.settings };
  }
  const { config, settings } = loaded;
  const alone = config.networks.filter(
    ({ kind, endpoints }) => !kind.isSimulated && endpoints.length < 2,
  );
  const finding =
    alone.length === 0
      ? ok("settings", `They are valid (${config.configFile ?? "no settings file"}).`)
      : warning(
          "settings",
          `Only one provider is configured for ${alone.map(({ title }) => title).join(", ")}.`,
          "Add a second one, against which the first is checked",
        );
  return { finding, config, reported: settings };
}

async function print(terminal: Terminal, findings: readonly Finding[]): Promise<void> {
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify({ data: findings, nextCursor: null }));
      return;
    case "quiet":
      for (const { check, status } of findings) if (status === "problem") terminal.data(check);
      return;
    case "people":
      await printTable(
        terminal,
        ["CHECK", "RESULT", "FINDING"],
        findings.map(({ check, status, message }) => [check, status, message]),
      );
      for (const { check, remedy } of findings) {
        if (remedy !== null) terminal.talk(`${check}: ${remedy}.`);
      }
  }
}

function failIfNeeded(findings: readonly Finding[]): void {
  const problems = findings.filter(({ status }) => status === "problem");
  if (problems.length === 0) return;
  const names = problems.map(({ check }) => check).join(", ");
  throw new ProblemsFound(`Look at ${names} above.`);
}
