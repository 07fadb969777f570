import { Declined, missing, UsageError } from "./refusals.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Questions are asked on a terminal only, and on standard error, so that data stays clean. Elsewhere the flag that
 * would have answered is named instead, at once.
 */
export async function askText(terminal: Terminal, flag: string, question: string): Promise<string> {
  if (!terminal.isInteractive) throw missing(flag);
  const { input } = await import("@inquirer/prompts");
  const answer = await input({ message: question, required: true }, streams(terminal));
  return answer.trim();
}

/**
 * Asks what may be left out: null after Enter alone, and where nobody can be asked or the output is for scripts. An
 * answer is asked for again as long as `fault` names what is wrong with it.
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

/** A secret that is not shown while it is typed; a new one is typed twice. */
export async function askSecret(
  terminal: Terminal,
  question: string,
  again: string,
): Promise<string> {
  const { password } = await import("@inquirer/prompts");
  const first = await password({ message: question, mask: "*" }, streams(terminal));
  const second = await password({ message: again, mask: "*" }, streams(terminal));
  if (first !== second) throw new UsageError("The two were not the same. Start again.");
  return first;
}

/** Goes on after a yes, or with --yes; anything else is Declined. */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (terminal.assumesYes) return;
  if (!terminal.isInteractive) throw missing("--yes");
  const inquirer = await import("@inquirer/prompts");
  const isYes = await inquirer.confirm({ message: question, default: false }, streams(terminal));
  if (!isYes) throw new Declined("Nothing was changed.");
}

function streams({ surroundings }: Terminal) {
  return { input: surroundings.stdin, output: surroundings.stderr };
}
