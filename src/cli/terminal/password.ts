import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { askSecret } from "./prompts.ts";
import { missing, UsageError } from "../failures/refusals.ts";
import type { Terminal } from "./terminal.ts";

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
