// The power is cut at random moments under load: the server is killed, and its store keeps only what was flushed, and by
// chance parts of what was written since.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openGround, type Dialect } from "../ground.ts";
import { firstSuccess } from "../kills.ts";
import { startLoad } from "../load.ts";
import { makeFaults, type Faults } from "../preload.ts";
import { report } from "../report.ts";
import { settle } from "../settle.ts";
import { makeDisk } from "./written.ts";

const cuts = Number(process.env["PROVE_CUTS"] ?? "50");
/** Each server runs for a random time between these after its first success, in milliseconds. */
const runMs = { least: 50, most: 2_000 };
/** The share of cuts after which nothing is on the disk that was not flushed. */
const strictShare = 0.5;

/** SQLite makes the index of its log again from the log. */
const isStored = (name: string) => name === "till.db" || name === "till.db-wal";

export async function provePowerCuts(dialect: Dialect): Promise<void> {
  // PostgreSQL writes and renames thousands of files, which faults.c does not record.
  if (dialect === "postgres") return;
  const faults = makeFaults("till.db");
  if (faults === null) return;
  try {
    await prove(faults);
  } finally {
    faults.remove();
  }
}

async function prove(faults: Faults): Promise<void> {
  const settings = { ...faults.env, FAULTS_RECORD: faults.recordFile };
  const ground = await openGround("power cut", "sqlite", { settings });
  const work = mkdtempSync(join(tmpdir(), "till-power-"));
  try {
    const folder = ground.shop.installation.env["TILL_DATA_DIR"] ?? "";
    const disk = makeDisk(folder, faults.recordFile, join(work, "disk"), isStored);
    await ground.servers.pop()?.stop();
    disk.takeFiles();
    ground.servers.push(await ground.serve());
    const load = startLoad(ground);
    const recovery: number[] = [];
    const sum = { kept: 0, lost: 0 };
    for (let count = 0; count < cuts; count += 1) {
      await delay(runMs.least + Math.random() * (runMs.most - runMs.least));
      await ground.servers.pop()?.kill();
      const cutAt = performance.now();
      const { kept, lost } = disk.cutPower(Math.random() < strictShare ? 0 : Math.random());
      sum.kept += kept;
      sum.lost += lost;
      ground.servers.push(await ground.serve());
      recovery.push((await firstSuccess(load.answers, cutAt)) / 1_000);
    }
    await load.stop();
    const notes = [
      `${String(cuts)} power cuts`,
      `${sum.lost.toLocaleString("en-US")} sectors without a flush were lost and ${sum.kept.toLocaleString("en-US")} kept`,
    ];
    const broken = sum.lost > 0 ? [] : ["no cut lost anything: the record does not work"];
    report(ground, await settle(ground, load), { recovery, notes, faults: broken });
  } finally {
    await ground.end();
    rmSync(work, { recursive: true, force: true });
  }
}
