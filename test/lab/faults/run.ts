// npm run prove:faults: faults on the real process, each with one line of figures: docs/faults.md. PROVE_PARTS=kills,stop
// chooses parts, PROVE_STORES=sqlite one database; PROVE_KILLS, PROVE_CUTS and PROVE_SECONDS are the counts and times.
import type { Dialect } from "./ground.ts";
import { proveKills } from "./kills.ts";
import { proveStops } from "./stops.ts";
import { proveOutages } from "./outages.ts";
import { provePausedServer } from "./paused-server.ts";
import { proveBrokenWrites } from "./disk/broken-writes.ts";
import { provePowerCuts } from "./disk/power-cuts.ts";
import { proveFullDisk } from "./disk/full-disk.ts";
import { proveClockJumps } from "./clock-jumps.ts";

const parts: Readonly<Record<string, (dialect: Dialect) => Promise<void>>> = {
  kills: proveKills,
  stops: proveStops,
  outages: proveOutages,
  paused: provePausedServer,
  writes: proveBrokenWrites,
  power: provePowerCuts,
  disk: proveFullDisk,
  clock: proveClockJumps,
};

const chosen = process.env["PROVE_PARTS"]?.split(",") ?? Object.keys(parts);
const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",") as Dialect[];
for (const name of chosen) {
  const prove = parts[name];
  if (prove === undefined) throw new Error(`no part is ${name}: ${Object.keys(parts).join(", ")}`);
  for (const dialect of stores) await prove(dialect);
}
