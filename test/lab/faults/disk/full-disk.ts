// The disk of the store, and that of the log, has no byte left.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../../support/store/postgres.ts";
import { firstSuccess } from "../kills.ts";
import { isAlive, openGround, type Dialect } from "../ground.ts";
import { startLoad } from "../load.ts";
import { report } from "../report.ts";
import { settle } from "../settle.ts";

const calmMs = 2_000;
const fullMs = 10_000;
const storeMib = 512;
const logMib = 1;
const chunkBytes = 65_536;
/** The server writes a test row every ten seconds, and so notices that there is space again. */
const recoveredWithinMs = 15_000;

/** A file system of its own, in memory. */
interface Disk {
  readonly folder: string;
  /** Leaves no byte. */
  fill(): void;
  /** Removes what filled it. */
  clear(): void;
  remove(): void;
}

/** Returns null, and says so, where no file system may be mounted. */
function makeDisk(mib: number): Disk | null {
  const folder = mkdtempSync(join(tmpdir(), "till-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${String(mib)}m,mode=755`, "tmpfs", folder];
  const mounted = spawnSync("mount", options, { encoding: "utf8" });
  if (mounted.status !== 0) {
    rmSync(folder, { recursive: true });
    console.log(`missing: the right to mount a file system: ${mounted.stderr.trim()}`);
    return null;
  }
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      const file = openSync(ballast, "a");
      for (const size of [chunkBytes, 1]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
      closeSync(file);
    },
    clear() {
      rmSync(ballast, { force: true });
    },
    remove() {
      spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function proveFullDisk(dialect: Dialect): Promise<void> {
  for (const prove of [proveFullStore, proveFullLog]) {
    const disk = makeDisk(prove === proveFullStore ? storeMib : logMib);
    if (disk === null) return;
    try {
      await prove(dialect, disk);
    } finally {
      disk.remove();
    }
  }
}

async function proveFullStore(dialect: Dialect, disk: Disk): Promise<void> {
  const ground = await openGround("a full disk in the store", dialect, {
    ...(dialect === "sqlite" ? { settings: { TILL_DATA_DIR: join(disk.folder, "data") } } : {}),
    startPostgres: () => startOn(disk.folder),
  });
  try {
    const load = startLoad(ground);
    await delay(calmMs);
    disk.fill();
    await delay(fullMs);
    const server = ground.servers[0];
    const readyStatus = server === undefined ? 0 : (await fetch(`${server.url}/readyz`)).status;
    disk.clear();
    const clearedAt = performance.now();
    // PostgreSQL ends itself if its log has no space.
    if (ground.postgres !== null) {
      await ground.postgres.halt();
      await ground.postgres.start();
    }
    const recoveredMs = await firstSuccess(load.answers, clearedAt);
    await delay(calmMs);
    await load.stop();
    const refused = load.answers.filter(({ status }) => status === 503).length;
    const faults = [
      ...(ground.servers.every(isAlive) ? [] : ["the server has ended"]),
      ...(readyStatus === 503 ? [] : [`/readyz was ${String(readyStatus)} on a full disk`]),
      ...(refused > 0 ? [] : ["no request was refused"]),
      ...(recoveredMs > recoveredWithinMs ? ["the server recovered too late"] : []),
    ];
    await ground.servers.pop()?.kill();
    ground.servers.push(await ground.serve());
    const notes = [`${String(refused)} times 503`];
    const recovery = [recoveredMs / 1_000];
    report(ground, await settle(ground, load), { recovery, notes, faults });
  } finally {
    await ground.end();
  }
}

async function proveFullLog(dialect: Dialect, disk: Disk): Promise<void> {
  const settings = { TILL_LOG_REQUESTS: "1" };
  const ground = await openGround("a full disk in the log", dialect, { settings });
  try {
    await ground.servers.pop()?.stop();
    ground.servers.push(await ground.serve({}, join(disk.folder, "log")));
    const load = startLoad(ground);
    await delay(calmMs);
    disk.fill();
    const filledAt = performance.now();
    await delay(fullMs);
    const meanwhile = load.answers.filter(({ startedAt }) => startedAt > filledAt);
    disk.clear();
    await load.stop();
    const failed = meanwhile.filter(({ status }) => status === 0 || status >= 400).length;
    const faults = [
      ...(ground.servers.every(isAlive) ? [] : ["the server has ended"]),
      ...(failed > 0 ? [`${String(failed)} requests failed because of the log`] : []),
    ];
    const notes = [`${String(meanwhile.length)} requests while it was full`];
    report(ground, await settle(ground, load), { recovery: [], notes, faults });
  } finally {
    await ground.end();
  }
}

/** Starts PostgreSQL with its data in a folder. */
async function startOn(folder: string) {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    return await startPostgres({ fsync: true });
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}
