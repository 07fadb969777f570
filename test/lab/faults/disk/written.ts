// The disk behind a process that was started with faults.c: it has what was flushed, and of what was written since the
// last flush as much as chance wants.
import { copyFileSync, existsSync, mkdirSync, openSync, closeSync } from "node:fs";
import { ftruncateSync, readdirSync, readFileSync, rmSync, truncateSync, writeSync } from "node:fs";
import { basename, join } from "node:path";

/** `struct record`: kind, length of the path, offset and size, in bytes. */
const headBytes = 24;
const kinds = { written: 1, truncated: 2, flushed: 3 };
/** The part of a write that a disk stores whole or not at all, in bytes. */
const sectorBytes = 512;

interface Write {
  /** The position of its record. */
  readonly at: number;
  readonly offset: number;
  /** Null if the file was truncated at the offset. */
  readonly bytes: Buffer | null;
}

/** The sectors that were written after the last flush of their file, after one power cut. */
export interface Cut {
  /** Sectors that are on the disk although nothing flushed them. */
  readonly kept: number;
  readonly lost: number;
}

export interface Disk {
  /** Takes the files of a stopped process for what is on the disk. */
  takeFiles(): void;
  /**
   * Puts the files of a killed process into the state in which a power cut leaves them.
   * @param share the share of the sectors without a flush that are stored all the same, from 0 to 1
   */
  cutPower(share: number): Cut;
}

/** @param isStored whether a file of the folder belongs to the store; files that are mapped into memory do not */
export function makeDisk(
  folder: string,
  recordFile: string,
  diskFolder: string,
  isStored: (name: string) => boolean,
): Disk {
  mkdirSync(diskFolder);
  const stored = (from: string) => readdirSync(from).filter(isStored);

  return {
    takeFiles() {
      for (const name of stored(diskFolder)) rmSync(join(diskFolder, name));
      for (const name of stored(folder)) copyFileSync(join(folder, name), join(diskFolder, name));
      if (existsSync(recordFile)) truncateSync(recordFile);
    },
    cutPower(share) {
      const unflushed = applyFlushes(diskFolder, readFileSync(recordFile), isStored);
      const cut = { kept: 0, lost: 0 };
      for (const [name, writes] of unflushed) {
        const file = openToWrite(join(diskFolder, name));
        for (const write of writes) storeByChance(file, write, share, cut);
        closeSync(file);
      }
      for (const name of stored(folder)) rmSync(join(folder, name));
      for (const name of stored(diskFolder))
        copyFileSync(join(diskFolder, name), join(folder, name));
      truncateSync(recordFile);
      return cut;
    },
  };
}

/** Stores what was flushed, and returns the other writes of each file in their order. */
function applyFlushes(
  diskFolder: string,
  record: Buffer,
  isStored: (name: string) => boolean,
): ReadonlyMap<string, readonly Write[]> {
  const waiting = new Map<string, Write[]>();
  let at = 0;
  while (at + headBytes <= record.length) {
    const kind = record.readInt32LE(at);
    const pathEnd = at + headBytes + record.readInt32LE(at + 4);
    const offset = Number(record.readBigInt64LE(at + 8));
    const end = pathEnd + Number(record.readBigInt64LE(at + 16));
    // The process was killed while it wrote the last one.
    if (end > record.length) break;
    const name = basename(record.toString("utf8", at + headBytes, pathEnd));
    if (isStored(name)) {
      const writes = waiting.get(name) ?? [];
      waiting.set(name, writes);
      if (kind === kinds.flushed) {
        const covered = writes.filter((write) => write.at < offset);
        waiting.set(
          name,
          writes.filter((write) => write.at >= offset),
        );
        const file = openToWrite(join(diskFolder, name));
        for (const write of covered) store(file, write);
        closeSync(file);
      } else {
        const bytes = kind === kinds.truncated ? null : record.subarray(pathEnd, end);
        writes.push({ at, offset, bytes });
      }
    }
    at = end;
  }
  return waiting;
}

function openToWrite(path: string): number {
  return openSync(path, existsSync(path) ? "r+" : "w+", 0o600);
}

function store(file: number, { offset, bytes }: Write): void {
  if (bytes === null) ftruncateSync(file, offset);
  else writeSync(file, bytes, 0, bytes.length, offset);
}

function storeByChance(
  file: number,
  { offset, bytes, at }: Write,
  share: number,
  cut: { kept: number; lost: number },
): void {
  if (bytes === null) {
    if (Math.random() < share) ftruncateSync(file, offset);
    return;
  }
  for (let from = 0; from < bytes.length;) {
    // Sectors begin at multiples of their size.
    const end = Math.min(bytes.length, from + sectorBytes - ((offset + from) % sectorBytes));
    if (Math.random() < share) {
      store(file, { at, offset: offset + from, bytes: bytes.subarray(from, end) });
      cut.kept += 1;
    } else cut.lost += 1;
    from = end;
  }
}
