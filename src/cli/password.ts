import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { askSecret } from "./prompts.ts";
import { missing, UsageError } from "./refusals.ts";
import type { Terminal } from "./terminal.ts";

/** A password never stands among the arguments: every user of the machine could read it there. */
export interface PasswordSource {
  readonly passwordStdin?: boolean;
  readonly passwordFile?: string;
}

/** Longer input is no password. */
const bytesMax = 4_096;

/** A new password, from where the flags say, or asked for on a terminal. */
export async function readNewPassword(
  terminal: Terminal,
  question: string,
  source: PasswordSource,
): Promise<string> {
  const { passwordStdin = false, passwordFile } = source;
  if (passwordStdin && passwordFile !== undefined) {
    throw new UsageError("Give one of --password-stdin and --password-file.");
  }
  if (passwordStdin) return firstLine(await readAll(terminal.surroundings.stdin));
  if (passwordFile !== undefined) return firstLine(await readPasswordFile(passwordFile));
  if (!terminal.isInteractive) throw missing("--password-stdin or --password-file");
  return askSecret(terminal, question, "The same again");
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
    if (bytes > bytesMax) throw new UsageError("What came in is too long for a password.");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The text without the line end that `echo` and editors put behind it. */
function firstLine(text: string): string {
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw new UsageError("The password is empty.");
  if (/[\r\n]/.test(line)) throw new UsageError("A password is one line, and more came in.");
  return line;
}
