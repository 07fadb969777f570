// Compiles faults.c, and switches its faults on and off in processes that were started with it, or reads what they wrote.
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The offsets of `struct faults`, in bytes. */
const layout = { offsetMs: 0, flushesFail: 8, writesFail: 12, hits: 16, size: 24 };

export interface Faults {
  /** The environment of a process that may suffer the faults. */
  readonly env: Readonly<Record<string, string>>;
  /** The record of writes and flushes; processes append to it if `FAULTS_RECORD` is set to it. */
  readonly recordFile: string;
  shiftClock(offsetMs: number): void;
  failFlushes(on: boolean): void;
  failWrites(on: boolean): void;
  /** The number of calls that failed so far. */
  hits(): number;
  remove(): void;
}

/** Returns null, and says so, where there is no compiler. */
export function makeFaults(path: string): Faults | null {
  const folder = mkdtempSync(join(tmpdir(), "till-preload-"));
  const library = join(folder, "faults.so");
  const source = fileURLToPath(new URL("faults.c", import.meta.url));
  const built = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]);
  if (built.status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    console.log(`missing: a C compiler (cc): ${built.error?.message ?? built.stderr.toString()}`);
    return null;
  }
  const file = join(folder, "faults");
  const handle = openSync(file, "w+");
  writeSync(handle, Buffer.alloc(layout.size), 0, layout.size, 0);
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  chmodSync(file, 0o666);

  function set(place: number, bytes: Buffer): void {
    writeSync(handle, bytes, 0, bytes.length, place);
  }
  function flag(place: number, on: boolean): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(on ? 1 : 0);
    set(place, bytes);
  }
  return {
    env: { LD_PRELOAD: library, FAULTS_FILE: file, FAULTS_PATH: path },
    recordFile: join(folder, "record"),
    shiftClock(offsetMs) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(offsetMs));
      set(layout.offsetMs, bytes);
    },
    failFlushes: (on) => {
      flag(layout.flushesFail, on);
    },
    failWrites: (on) => {
      flag(layout.writesFail, on);
    },
    hits() {
      const bytes = Buffer.alloc(4);
      readSync(handle, bytes, 0, 4, layout.hits);
      return bytes.readInt32LE();
    },
    remove() {
      closeSync(handle);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
