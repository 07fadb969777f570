import { open as openFile, type FileHandle } from "node:fs/promises";
import { BackupDamaged } from "./errors.ts";

// Backups are tar files (POSIX ustar), so that `tar` can list and unpack them. This module writes one fixed form: the
// reader compares every byte outside the members' content with the form that the writer would have written.

const blockBytes = 512;
const nameBytesMax = 100;
/** The largest member, in bytes. The size field of a damaged header could claim more than the memory holds. */
const memberBytesMax = 1_024 ** 3;

export interface Member {
  readonly name: string;
  readonly content: Buffer;
}

export interface ArchiveWriter {
  add(name: string, content: Uint8Array): Promise<void>;
  /** Ends the archive and flushes it to disk. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Creates an archive that only its owner can read. Fails with EEXIST if the file exists. */
export async function createArchive(path: string): Promise<ArchiveWriter> {
  const file = await openFile(path, "wx", 0o600);
  return {
    async add(name, content) {
      await writeAll(file, headerOf(name, content.byteLength));
      await writeAll(file, content);
      await writeAll(file, Buffer.alloc(paddingOf(content.byteLength)));
    },
    async finish() {
      await writeAll(file, Buffer.alloc(2 * blockBytes));
      await file.sync();
    },
    close: () => file.close(),
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

/**
 * Reads the members of an archive in order.
 * @throws BackupDamaged if the file is not exactly what `createArchive` writes
 */
export async function* readArchive(path: string): AsyncGenerator<Member> {
  const file = await openFile(path, "r");
  try {
    const { size } = await file.stat();
    let at = 0;
    const take = async (length: number): Promise<Buffer> => {
      if (at + length > size) throw damaged("it ends too early");
      const bytes = Buffer.alloc(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await file.read(bytes, done, length - done, at + done);
        if (bytesRead === 0) throw damaged("it ends too early");
        done += bytesRead;
      }
      at += length;
      return bytes;
    };
    for (;;) {
      const header = await take(blockBytes);
      if (isZero(header)) {
        if (!isZero(await take(blockBytes)) || at !== size) throw damaged("its end was altered");
        return;
      }
      const { name, length } = parseHeader(header);
      const content = await take(length);
      if (!isZero(await take(paddingOf(length)))) throw damaged(`${name} was altered`);
      yield { name, content };
    }
  } finally {
    await file.close();
  }
}

export function damaged(reason: string): Error {
  return new BackupDamaged(
    `The file is not a complete, unaltered backup: ${reason}. Use another backup.`,
  );
}

/** Returns the number of zero bytes that fill the last block of a member. */
function paddingOf(length: number): number {
  return (blockBytes - (length % blockBytes)) % blockBytes;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

function headerOf(name: string, length: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0, nameBytesMax, "latin1");
  header.write(octal(0o600, 7), 100, "latin1");
  header.write(octal(0, 7), 108, "latin1");
  header.write(octal(0, 7), 116, "latin1");
  header.write(octal(length, 11), 124, "latin1");
  header.write(octal(0, 11), 136, "latin1");
  // The checksum counts its own field as spaces.
  header.write(" ".repeat(8), 148, "latin1");
  header.write("0", 156, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148, "latin1");
  return header;
}

function parseHeader(header: Buffer): { name: string; length: number } {
  const name = header.toString("latin1", 0, nameBytesMax).replace(/\0.*$/s, "");
  const digits = header.toString("latin1", 124, 135);
  const length = /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : memberBytesMax + 1;
  if (length > memberBytesMax || !headerOf(name, length).equals(header)) {
    throw damaged("a header was altered, or it is not a backup of Till");
  }
  return { name, length };
}
