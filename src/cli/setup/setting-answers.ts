import { ConfigError, type LoadedConfig } from "../../platform/config/config.ts";
import { loadSettings, type Flags } from "../settings.ts";
import { askOptional, askSeveral, mayOffer } from "../terminal/prompts.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { backupFolderFault } from "./backup-folder.ts";

/** The schedule that is proposed: every night, when most shops have few customers. */
const proposedSchedule = "15 3 * * *";

/**
 * Asks at a terminal for the settings that most installations need and that no flag, variable or file gives. Returns the
 * flags with the answers, each checked as a start would check it. Without a terminal, it returns the flags.
 */
export async function askSettings(
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
