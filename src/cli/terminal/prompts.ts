import { Declined, missing, UsageError } from "../refusals.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Prompts for text on standard error, so that standard output contains only data. Without a terminal, it throws an
 * error that names the flag to use instead.
 */
export async function askText(terminal: Terminal, flag: string, question: string): Promise<string> {
  if (!terminal.isInteractive) throw missing(flag);
  const { input } = await import("@inquirer/prompts");
  const answer = await input({ message: question, required: true }, streams(terminal));
  return answer.trim();
}

/**
 * Prompts for an optional value; null if the user enters nothing, without a terminal or in script output. Repeats the
 * prompt while `fault` returns an error.
 */
export async function askOptional(
  terminal: Terminal,
  question: string,
  fault: (answer: string) => string | null,
): Promise<string | null> {
  if (!terminal.isInteractive || terminal.form !== "people") return null;
  const { input } = await import("@inquirer/prompts");
  const validate = (given: string) => (given.trim() === "" ? null : fault(given.trim())) ?? true;
  const answer = (await input({ message: question, validate }, streams(terminal))).trim();
  return answer === "" ? null : answer;
}

/** Prompts for a new secret, twice, without showing it. */
export async function askSecret(
  terminal: Terminal,
  question: string,
  again: string,
): Promise<string> {
  const { password } = await import("@inquirer/prompts");
  const first = await password({ message: question, mask: "*" }, streams(terminal));
  const second = await password({ message: again, mask: "*" }, streams(terminal));
  if (first !== second) throw new UsageError("The two entries do not match. Start again.");
  return first;
}

/** Throws UsageError if nobody can be asked and --yes is missing. */
export function requireConsent(terminal: Terminal): void {
  if (!terminal.assumesYes && !terminal.isInteractive) throw missing("--yes");
}

/** Asks for confirmation unless --yes is set; throws Declined on anything but yes. */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (terminal.assumesYes) return;
  requireConsent(terminal);
  const inquirer = await import("@inquirer/prompts");
  const isYes = await inquirer.confirm({ message: question, default: false }, streams(terminal));
  if (!isYes) throw new Declined("Nothing was changed.");
}

function streams({ surroundings }: Terminal) {
  return { input: surroundings.stdin, output: surroundings.stderr };
}
