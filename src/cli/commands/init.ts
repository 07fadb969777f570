import { join } from "node:path";
import { parseBody } from "../../http/declare/request.ts";
import { createApp } from "../../compose/app.ts";
import { storeName } from "../../compose/store-location.ts";
import { initializeStore } from "../../features/admin/initialize.ts";
import { alreadyInitialized } from "../../features/admin/installation.ts";
import { getOrganizationDetail } from "../../features/admin/organizations.ts";
import { InitializeRequest, presentInstalled } from "../../features/admin/records.ts";
import { requireStrong } from "../../features/auth/passwords.ts";
import { getReceiveWallet } from "../../features/billing/invoices/receive-wallet.ts";
import { platformOrganization } from "../../features/organizations/store.ts";
import { Problem } from "../../kernel/errors.ts";
import {
  prepareSettings,
  entriesOf,
  type SettingsChange,
} from "../../platform/config/files/files.ts";
import { ConfigError, type Config, type LoadedConfig } from "../../platform/config/config.ts";
import { createLogger, silentLogger } from "../../platform/logger/index.ts";
import { passwordFault } from "../../platform/secrets/passwords.ts";
import { uninterrupted } from "../interrupt.ts";
import { operator } from "../operator.ts";
import { printLines } from "../terminal/output.ts";
import {
  askOptional,
  askSeveral,
  askText,
  mayOffer,
  readNewPassword,
  type PasswordSource,
} from "../terminal/prompts.ts";
import {
  addWallets,
  parseReceiver,
  receiverFault,
  type NamedReceiver,
} from "../setup/receive-wallet.ts";
import { missing, UsageError } from "../failures/refusals.ts";
import { loadSettings, logLevelOf, type Flags } from "../settings.ts";
import { backupFolderFault, makeBackupFolder } from "../setup/backup-folder.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface InitFlags extends PasswordSource, Flags {
  readonly adminEmail?: string;
  readonly adminName?: string;
  readonly organization?: string;
  readonly wallet?: string;
  readonly receiveWallet?: string;
  readonly receiveToken?: string;
}

/** All input of `till init`, validated. */
interface Answers {
  readonly loaded: LoadedConfig;
  /** Null: no setting was given. */
  readonly settingsFile: { readonly path: string; readonly entries: Flags } | null;
  readonly account: { adminEmail: string; adminName: string; organization: string };
  readonly password: string;
  readonly wallet: NamedReceiver | null;
  readonly receiver: NamedReceiver | null;
}

/**
 * `till init`: creates the data folder, the secret and the store; then, in one transaction, the platform organization
 * and its admin, together with till.yaml; then, if given, the first wallet and the one that receives the platform's
 * payments. At a terminal it asks for what the flags leave open. All input is validated before anything is created. If a
 * run is killed, the next one completes it; on an initialized store it says what exists.
 */
export async function initialize(terminal: Terminal, flags: InitFlags): Promise<void> {
  const answers = await readAnswers(terminal, flags);
  await uninterrupted(() => create(terminal, answers));
}

async function readAnswers(terminal: Terminal, flags: InitFlags): Promise<Answers> {
  const before = await loadSettings(terminal, "serve", flags);
  requireFlags(terminal, flags);
  await requireNew(before.config);
  const settings = await askSettings(terminal, flags, before);
  const entries = entriesOf(settings, process.cwd());
  if (Object.keys(entries).length > 0 && flags["config"] !== undefined) {
    throw new UsageError(
      `Put ${Object.keys(entries).join(", ")} into the file that --config names: till init writes only the till.yaml of the data folder.`,
    );
  }
  const loaded = await loadSettings(terminal, "serve", settings);
  const { networks, dataDir, backupFolder } = loaded.config;
  const unwritable = backupFolder === null ? null : await backupFolderFault(backupFolder);
  if (unwritable !== null) {
    throw new UsageError(`${unwritable} Name another folder with --backup-folder.`);
  }
  const parse = (text: string, token?: string) => parseReceiver(networks, text, token);
  // Refuses wrong flags before the next prompt.
  if (flags.receiveWallet === undefined && flags.receiveToken !== undefined) {
    throw new UsageError("Give --receive-wallet together with --receive-token.");
  }
  const given = {
    wallet: flags.wallet === undefined ? null : parse(flags.wallet),
    receiver:
      flags.receiveWallet === undefined ? null : parse(flags.receiveWallet, flags.receiveToken),
  };
  const account = await readAccount(terminal, flags);
  const password = await readNewPassword(terminal, "Password of the admin", flags, async (text) => {
    const fault = await passwordFault(text, account.adminEmail);
    return fault === null ? null : `The password ${fault.message}.`;
  });
  await requireStrong(password, account.adminEmail);
  const ask = async (question: string) => {
    const answer = await askOptional(terminal, question, (text) => receiverFault(networks, text));
    return answer === null ? null : parse(answer);
  };
  const wallet =
    given.wallet ??
    (await ask("Wallet for your invoices, as network:address (Enter to add one later)"));
  const receiver =
    given.receiver ??
    (await ask(
      "Wallet that receives payments for your plans, as network:address (Enter to set it later)",
    ));
  const settingsFile =
    Object.keys(entries).length === 0 ? null : { path: join(dataDir, "till.yaml"), entries };
  return { loaded, settingsFile, account, password, wallet, receiver };
}

async function create(terminal: Terminal, answers: Answers): Promise<void> {
  const { loaded, settingsFile, account, password, wallet, receiver } = answers;
  let change =
    settingsFile === null ? null : await prepareSettings(settingsFile.path, settingsFile.entries);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  try {
    const app = await createApp(loaded.config, "initialize", { logger });
    try {
      const context = { actor: operator(), requestId: terminal.requestId, ip: null };
      const installed = await initializeStore(
        app,
        { ...context, ...finishWith(change) },
        { ...account, password },
      );
      change = null;
      await makeBackupFolder(loaded.config.backupFolder);
      await addWallets(app, context, installed.organization.id, wallet, receiver);
      await print(terminal, answers, presentInstalled(installed));
    } finally {
      await app.close();
    }
  } catch (error) {
    await change?.withdraw();
    throw error;
  }
}

/** Puts the settings file in its place just before the store's commit, so that no run leaves only one of them. */
function finishWith(change: SettingsChange | null) {
  return change === null ? {} : { finish: () => change.publish() };
}

async function print(
  terminal: Terminal,
  { loaded, settingsFile, wallet, receiver }: Answers,
  shown: ReturnType<typeof presentInstalled>,
): Promise<void> {
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify(shown));
      return;
    case "quiet":
      terminal.data(shown.organization.id);
      return;
    case "people":
      await printLines(terminal, [
        ["Store", storeName(loaded.config)],
        ...(settingsFile === null ? [] : [["Settings", settingsFile.path] as const]),
        ["Organization", `${shown.organization.name} (${shown.organization.id})`],
        ["Admin", `${shown.user.email} (${shown.user.id})`],
        ...(wallet === null ? [] : [["Wallet", `on ${wallet.network}`] as const]),
        ...(receiver === null
          ? []
          : [["Paid at", `a wallet on ${receiver.network}, in ${receiver.tokenSymbol}`] as const]),
      ]);
      if (receiver === null) {
        terminal.talk("To charge for plans, set a wallet later with till billing receive-wallet");
      }
      terminal.talk("Next: till serve");
  }
}

async function readAccount(terminal: Terminal, flags: InitFlags): Promise<Answers["account"]> {
  const { adminEmail, adminName, organization } = flags;
  const given = Object.entries({ adminEmail, adminName, organization });
  // Refuses wrong flags before the first of these prompts.
  parseBody(
    InitializeRequest.partial(),
    Object.fromEntries(given.filter(([, value]) => value !== undefined)),
  );
  const ask = (key: keyof Answers["account"], flag: string, question: string) =>
    askText(terminal, flag, question, (answer) => accountFault(key, answer));
  return parseBody(InitializeRequest, {
    adminEmail: adminEmail ?? (await ask("adminEmail", "--admin-email", "Your e-mail address")),
    adminName: adminName ?? (await ask("adminName", "--admin-name", "Your name")),
    organization:
      organization ??
      (await ask("organization", "--organization", "The organization that runs this Till")),
  }) as Answers["account"];
}

/** Returns what is wrong with an answer about the account; null if nothing is. */
function accountFault(key: keyof Answers["account"], answer: string): string | null {
  try {
    parseBody(InitializeRequest.partial(), { [key]: answer });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors.map(({ message }) => message).join("; ");
  }
}

/** Reports all missing flags at once. */
function requireFlags(terminal: Terminal, flags: InitFlags): void {
  if (terminal.isInteractive) return;
  const needed = [
    ["--admin-email", flags.adminEmail],
    ["--admin-name", flags.adminName],
    ["--organization", flags.organization],
    ["--password-stdin or --password-file", flags.passwordStdin ?? flags.passwordFile],
  ] as const;
  const absent = needed.filter(([, value]) => value === undefined).map(([flag]) => flag);
  if (absent.length > 0) throw missing(...absent);
}

/** Throws AlreadyInitialized, which says what exists, if the store is initialized. Changes nothing. */
async function requireNew(config: Config): Promise<void> {
  const found = await describeExisting(config).catch(() => null);
  if (found !== null) throw alreadyInitialized(found);
}

/** Lists what `till init` would create and exists; null if the store is new, incomplete or cannot be used. */
async function describeExisting(config: Config): Promise<string | null> {
  const app = await createApp(config, "use", { logger: silentLogger });
  try {
    const platform = await platformOrganization(app.db);
    if (platform === null) return null;
    const { members, wallets } = await getOrganizationDetail(app, platform.id);
    const owners = members.filter(({ role }) => role === "owner");
    const receiver = await getReceiveWallet(app).catch(() => null);
    const lines = [
      ["Store", storeName(config)],
      ["Settings", config.configFile ?? "no file"],
      ["Organization", `${platform.name} (${platform.id})`],
      ["Admin", owners.map(({ email }) => email).join(", ")],
      ["Wallets", wallets.length === 0 ? "none yet" : String(wallets.length)],
      [
        "Paid at",
        receiver?.wallet == null
          ? "no wallet yet: till billing receive-wallet sets one"
          : `${receiver.wallet.label} on ${receiver.wallet.network}`,
      ],
    ] as const;
    return lines.map(([title, value]) => `  ${title.padEnd(12)}  ${value}`).join("\n");
  } finally {
    await app.close();
  }
}

/** The schedule that is proposed: every night, when most shops have few customers. */
const proposedSchedule = "15 3 * * *";

/**
 * Asks at a terminal for the settings that most installations need and that no flag, variable or file gives. Returns the
 * flags with the answers, each checked as a start would check it. Without a terminal, it returns the flags.
 */
async function askSettings(
  terminal: Terminal,
  flags: Flags,
  { config, settings }: LoadedConfig,
): Promise<Flags> {
  // A file that --config names is the operator's own.
  const isOwnFile = flags["config"] !== undefined || isGivenBy(terminal, "TILL_CONFIG_FILE");
  if (!mayOffer(terminal) || isOwnFile) return flags;
  const answers: Record<string, unknown> = { ...flags };
  const isOpen = (key: string) =>
    settings.some((setting) => setting.key === key && setting.origin.source === "default");
  const fault = (key: string) => (answer: string) =>
    findFault(terminal, { ...answers, [key]: answer });

  if (isOpen("networks")) {
    const enabled = config.networks.map(({ id }) => id);
    const choices = config.knownNetworks.map(({ id, title }) => ({
      value: id,
      name: `${title} (${id})`,
      isChosen: enabled.includes(id),
    }));
    const check = (chosen: readonly string[]) => fault("networks")(chosen.join(","));
    const chosen = await askSeveral(terminal, "Networks (space to choose)", choices, check);
    answers["networks"] = chosen.join(",");
  }
  const questions = [
    [
      "baseUrl",
      "Public base URL, at which payers reach the server, such as https://pay.example.com (Enter: the address on which it listens)",
    ],
    ["backupFolder", "Folder of the backups, best on another disk (Enter: in the data folder)"],
  ] as const;
  for (const [key, question] of questions) {
    if (!isOpen(key)) continue;
    const answer = await askOptional(terminal, question, fault(key));
    if (answer !== null) answers[key] = answer;
  }
  if (isOpen("backupSchedule")) {
    const question = `When to back up, as a cron line in UTC (Enter: ${proposedSchedule}, every night; none: never)`;
    const isNone = (answer: string) => answer.toLowerCase() === "none";
    const answer = await askOptional(terminal, question, (given) =>
      isNone(given) ? null : fault("backupSchedule")(given),
    );
    if (answer === null) answers["backupSchedule"] = proposedSchedule;
    else if (!isNone(answer)) answers["backupSchedule"] = answer;
  }
  return answers;
}

function isGivenBy({ surroundings }: Terminal, variable: string): boolean {
  return (surroundings.env[variable] ?? "").trim() !== "";
}

/** Returns what is wrong with settings; null if a server would start and back up with them. */
async function findFault(terminal: Terminal, flags: Flags): Promise<string | null> {
  try {
    const { backupFolder } = (await loadSettings(terminal, "serve", flags)).config;
    return backupFolder === null ? null : await backupFolderFault(backupFolder);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ message }) => message).join("; ");
  }
}
