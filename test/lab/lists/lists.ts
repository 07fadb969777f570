// npm run prove:lists: measures lists and figures with PROVE_ROWS invoices (a million) on both databases, and fails if
// a target is missed. PROVE_KEEP names a folder that keeps filled stores for the next run (for PostgreSQL,
// PROVE_POSTGRES then names the empty database); PROVE_ONLY is a pattern of the names to measure.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { startPostgres } from "../../support/store/postgres.ts";
import { openLibrary, timesOf } from "./list-questions.ts";

const rows = Number(process.env["PROVE_ROWS"] ?? "1000000");
const samples = Number(process.env["PROVE_SAMPLES"] ?? "200");
const stores = (process.env["PROVE_STORES"] ?? "sqlite,postgres").split(",");
const kept = process.env["PROVE_KEEP"];
const only = new RegExp(process.env["PROVE_ONLY"] ?? "");

async function measure(dialect: string, place: StoreOptions): Promise<void> {
  const startedAt = performance.now();
  const notesFile = kept === undefined ? undefined : join(kept, `${dialect}.json`);
  const library = await openLibrary(place, rows, notesFile);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(
    `${dialect}: ${String(rows)} invoices ready in ${seconds} s, ${library.summedPerSecond.toFixed(0)} changes a second added to the figures`,
  );
  for (const question of library.questions) {
    const { name, targetMs } = question;
    if (!only.test(name)) continue;
    const { medianMs, p99Ms } = await timesOf(library, question, samples);
    const isMissed = targetMs !== null && p99Ms >= targetMs;
    if (isMissed) process.exitCode = 1;
    const target =
      targetMs === null ? "" : `  (< ${String(targetMs)} ms${isMissed ? ", MISSED" : ""})`;
    const [median, slow] = [medianMs, p99Ms].map((time) => `${time.toFixed(1).padStart(7)} ms`);
    console.log(`  ${name.padEnd(34)} median ${median ?? ""}  p99 ${slow ?? ""}${target}`);
  }
  await library.app.stop();
}

console.log(`load average at the start: ${(loadavg()[0] ?? 0).toFixed(1)}`);
if (stores.includes("sqlite")) {
  const folder = kept ?? (await mkdtemp(join(tmpdir(), "till-prove-")));
  await mkdir(folder, { recursive: true });
  try {
    await measure("sqlite", { sqliteFile: join(folder, "till.db") });
  } finally {
    if (kept === undefined) await rm(folder, { recursive: true, force: true });
  }
}
if (stores.includes("postgres")) {
  const given = process.env["PROVE_POSTGRES"];
  const server = given === undefined ? await startPostgres() : null;
  try {
    await measure("postgres", { url: given ?? server?.url("postgres") ?? "" });
  } finally {
    await server?.stop();
  }
}
