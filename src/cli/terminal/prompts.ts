import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Person } from "../../http/declare/command.ts";
import { Declined, missing, UsageError } from "../failures/refusals.ts";
import { printable, type Terminal } from "./terminal.ts";

/**
 * Prompts for text on standard error, so that standard output contains only data. Repeats the prompt while the answer is
 * blank or `fault` returns an error. Without a terminal, it throws an error that names the flag to use instead.
 */
export async function askText(
  terminal: Terminal,
  flag: string,
  question: string,
  fault: (answer: string) => string | null = () => null,
): Promise<string> {
  if (!terminal.isInteractive) throw missing(flag);
  const { input } = await import("@inquirer/prompts");
  const validate = (given: string) =>
    given.trim() === "" ? "You must provide a value" : (fault(given.trim()) ?? true);
  const answer = await input({ message: question, validate }, streams(terminal));
  return answer.trim();
}

/**
 * Prompts for an optional value; null if the user enters nothing, without a terminal or in script output. Repeats the
 * prompt while `fault` returns an error.
 */
export async function askOptional(
  terminal: Terminal,
  question: string,
  fault: (answer: string) => Promise<string | null> | string | null,
): Promise<string | null> {
  if (!mayOffer(terminal)) return null;
  const { input } = await import("@inquirer/prompts");
  const validate = async (given: string) =>
    (given.trim() === "" ? null : await fault(given.trim())) ?? true;
  const answer = (await input({ message: question, validate }, streams(terminal))).trim();
  return answer === "" ? null : answer;
}

/** Whether optional questions are asked: at a terminal, and not in script output. */
export function mayOffer({ isInteractive, form }: Terminal): boolean {
  return isInteractive && form === "people";
}

/** Prompts for one or more of several choices; `isChosen` marks those that Enter accepts. */
export async function askSeveral(
  terminal: Terminal,
  question: string,
  choices: readonly { readonly value: string; readonly name: string; readonly isChosen: boolean }[],
  fault: (chosen: readonly string[]) => Promise<string | null>,
): Promise<string[]> {
  const { checkbox } = await import("@inquirer/prompts");
  return checkbox(
    {
      message: question,
      required: true,
      choices: choices.map(({ isChosen, ...choice }) => ({ ...choice, checked: isChosen })),
      validate: async (chosen) => (await fault(chosen.map(({ value }) => value))) ?? true,
    },
    streams(terminal),
  );
}

/**
 * Prompts for a new secret, twice, without showing it. Repeats the prompt while `fault` returns an error, and both while
 * they differ.
 */
async function askSecret(
  terminal: Terminal,
  question: string,
  again: string,
  fault: (answer: string) => Promise<string | null> = () => Promise.resolve(null),
): Promise<string> {
  const { password } = await import("@inquirer/prompts");
  const validate = async (given: string) => (await fault(given)) ?? true;
  for (;;) {
    const first = await password({ message: question, mask: "*", validate }, streams(terminal));
    const second = await password({ message: again, mask: "*" }, streams(terminal));
    if (first === second) return first;
    terminal.talk("The two entries do not match. Enter both again.");
  }
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
  const isYes = await inquirer.confirm(
    { message: printable(question), default: false },
    streams(terminal),
  );
  if (!isYes) throw new Declined("Nothing was changed.");
}

/** Returns the person at a terminal. Prompts and text go to standard error. */
export function personAt(terminal: Terminal): Person {
  return {
    say: (text) => {
      terminal.talk(text);
    },
    async choose(message, choices) {
      const { select } = await import("@inquirer/prompts");
      const shown = choices.map(({ name, value }) => ({ name: printable(name), value }));
      return select({ message, choices: shown, loop: false }, streams(terminal));
    },
  };
}

function streams({ surroundings }: Terminal) {
  return { input: surroundings.stdin, output: surroundings.stderr };
}

/** Sources of a password. It is never an argument, because every user of the machine can read those. */
export interface PasswordSource {
  readonly passwordStdin?: boolean;
  readonly passwordFile?: string;
}

/** Maximum length of the input, in bytes. */
const bytesMax = 4_096;

/** Reads a new password from the source that the flags name, or prompts for it until `fault` returns null. */
export async function readNewPassword(
  terminal: Terminal,
  question: string,
  source: PasswordSource,
  fault?: (password: string) => Promise<string | null>,
): Promise<string> {
  const { passwordStdin = false, passwordFile } = source;
  if (passwordStdin && passwordFile !== undefined) {
    throw new UsageError("Give either --password-stdin or --password-file, not both.");
  }
  if (passwordStdin || passwordFile === "-")
    return firstLine(await readAll(terminal.surroundings.stdin));
  if (passwordFile !== undefined) return firstLine(await readPasswordFile(passwordFile));
  if (!terminal.isInteractive) throw missing("--password-stdin or --password-file");
  return askSecret(terminal, question, "Repeat the password", fault);
}

async function readPasswordFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`--password-file: ${path} cannot be read (${reason}).`);
  }
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.byteLength;
    if (bytes > bytesMax) throw new UsageError("The input is too long for a password.");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Removes the trailing line break that `echo` and editors add, and requires a single line. */
function firstLine(text: string): string {
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw new UsageError("The password is empty.");
  if (/[\r\n]/.test(line)) throw new UsageError("The password must be a single line.");
  return line;
}
