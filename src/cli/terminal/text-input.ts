import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { decodeUtf8 } from "../../kernel/text.ts";
import { UsageError } from "../failures/refusals.ts";
import type { Terminal } from "./terminal.ts";

/** Maximum size of a file that a command reads, in MiB. */
const sizeMax = 64;

/** Reads a text file in UTF-8, or standard input if the path is `-`. Throws UsageError if it cannot be read. */
export async function readTextInput(terminal: Terminal, path: string): Promise<string> {
  return decodeText(path, await readInput(terminal, path));
}

/** Decodes a file that was read from this path. Throws UsageError unless it is text in UTF-8. */
export function decodeText(path: string, bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text !== null) return text;
  throw new UsageError(
    `${nameOf(path)} is not text in UTF-8. Save it in this encoding and try again.`,
  );
}

/** Reads a file, or standard input if the path is `-`. Throws UsageError if it cannot be read. */
export function readInput({ surroundings }: Terminal, path: string): Promise<Buffer> {
  return readAll(path === "-" ? surroundings.stdin : createReadStream(path), nameOf(path));
}

function nameOf(path: string): string {
  return path === "-" ? "Standard input" : path;
}

async function readAll(source: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer | string>) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > sizeMax * 2 ** 20) break;
      chunks.push(bytes);
    }
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`${name} cannot be read (${reason}).`);
  }
  if (size > sizeMax * 2 ** 20) {
    throw new UsageError(`${name} is larger than ${String(sizeMax)} MiB. Divide it.`);
  }
  return Buffer.concat(chunks);
}
