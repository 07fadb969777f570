// npm run bench: measures a server as a merchant runs it, and in the same run a Koa server that echoes the same
// requests. Arguments name the parts to measure (all by default); --million adds a store with a million invoices, --write
// writes docs/performance.md, --quick does a tenth of the work. See docs/performance.md for the meaning of the figures.
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { openLibrary } from "../lists/list-questions.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startPostgres } from "../../support/store/postgres.ts";
import {
  batches,
  checkouts,
  measure,
  singles,
  start,
  warmUp,
  type Figures,
  type Target,
  type Work,
} from "./load.ts";
import { medianOf, tableOf, writeSection, type Row } from "./report.ts";

const words = process.argv.slice(2);
const flags = words.filter((word) => word.startsWith("--"));
const wanted = words.filter((word) => !word.startsWith("--"));
const rounds = 3;
const scale = flags.includes("--quick") ? 0.1 : 1;
const works: readonly Work[] = [
  singles(1_200 * scale),
  batches(Math.max(2, 12 * scale)),
  checkouts(3_000 * scale),
];
/** One key for each caller and one more for the lists: a key may send 600 requests a minute. */
const keys = 65;
/** How much more often Koa is asked: its answers are so short that a window needs more of them. */
const koaTimes = 5;
/** Lists of cores: all, that of a server, and those of the load. A single core is shared. */
const last = availableParallelism() - 1;
const all = `0-${String(last)}`;
const first = last > 0 ? "0" : all;
const others = last > 0 ? `1-${String(last)}` : all;

type Dialect = "sqlite" | "postgres";
const dialects: readonly Dialect[] = ["sqlite", "postgres"];

const receiver = await startReceiver();
const postgres = await startPostgres({ fsync: true });
const database = await databases();
// PostgreSQL was started before, so it keeps all cores.
if (process.platform === "linux") spawnSync("taskset", ["-pc", others, String(process.pid)]);

/** Returns a function that creates empty databases of the temporary server. */
async function databases(): Promise<() => Promise<string>> {
  const { default: pg } = await import("pg");
  let made = 0;
  return async () => {
    const client = new pg.Client({ connectionString: postgres.url("postgres") });
    await client.connect();
    made += 1;
    const name = `bench_${String(made)}`;
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return postgres.url(name);
  };
}

async function startTill(place: Partial<{ databaseUrl: string; sqliteFile: string }>, on = first) {
  return start({ kind: "till", keys, receiver: receiver.url, ...place }, on);
}

/** Measures each work on all targets in turn, several times, so that a disturbance concerns all of them. */
async function interleaved(targets: ReadonlyMap<string, readonly Target[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const work of works) {
    const workOf = (name: string) =>
      name === "Koa" ? { ...work, requests: work.requests * koaTimes } : work;
    for (const [name, servers] of targets) await warmUp(servers, workOf(name));
    const measured = new Map([...targets.keys()].map((name) => [name, [] as Figures[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, servers] of targets)
        measured.get(name)?.push(await measure(servers, workOf(name)));
    }
    const koa = medianOf(measured.get("Koa") ?? []);
    for (const [name, figures] of measured) {
      rows.push({
        name: `${work.name}, ${name}`,
        figures: medianOf(figures),
        koa: name === "Koa" ? null : koa,
      });
    }
  }
  return rows;
}

async function measureKoa(echo: Target, work: Work): Promise<Figures> {
  const more = { ...work, requests: work.requests * koaTimes };
  await warmUp([echo], more);
  return measure([echo], more);
}

/** Prints a table for each work, and returns them as text. */
function show(rows: readonly Row[]): string {
  const text = works
    .map(({ name }) => ({ name, of: rows.filter((row) => row.name.startsWith(`${name}, `)) }))
    .filter(({ of }) => of.length > 0)
    .map(({ name, of }) => {
      const named = of.map((row) => ({ ...row, name: row.name.slice(name.length + 2) }));
      return `### ${name}\n\n${tableOf(named)}`;
    })
    .join("\n\n");
  console.log(`\n${text}\n`);
  return text;
}

async function stopAll(targets: ReadonlyMap<string, readonly Target[]>): Promise<void> {
  for (const target of [...targets.values()].flat()) await target.stop();
}

/** One server on each database. */
async function requests(): Promise<string> {
  const targets = new Map<string, readonly Target[]>([
    ["Koa", [await start({ kind: "echo" }, first)]],
    ["SQLite", [await startTill({})]],
    ["PostgreSQL", [await startTill({ databaseUrl: await database() })]],
  ]);
  const rows = await interleaved(targets);
  await stopAll(targets);
  return show(rows);
}

/** 1, 2 and 4 servers on one PostgreSQL database. They may use any core. */
async function servers(): Promise<string> {
  const rows: Row[] = [];
  const work = singles(600 * scale);
  const echo = await start({ kind: "echo" }, all);
  const koa = await measureKoa(echo, work);
  await echo.stop();
  for (const count of [1, 2, 4]) {
    const databaseUrl = await database();
    const issuer = await startTill({ databaseUrl }, all);
    const merchant = { path: issuer.path, keys: issuer.keys };
    const more = Array.from({ length: count - 1 }, () =>
      start({ kind: "till", databaseUrl, merchant }, all),
    );
    const targets = [issuer, ...(await Promise.all(more))];
    await warmUp(targets, work);
    const measured: Figures[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measure(targets, work));
    const name = `${work.name}, ${String(count)} ${count === 1 ? "server" : "servers"}`;
    rows.push({ name, figures: medianOf(measured), koa });
    for (const target of targets) await target.stop();
  }
  return show(rows);
}

/** Stores that already have invoices. */
async function growth(): Promise<string> {
  const sizes = [1_000, 100_000, ...(flags.includes("--million") ? [1_000_000] : [])];
  const rows: Row[] = [];
  const [single] = works;
  if (single === undefined) return "";
  const echo = await start({ kind: "echo" }, first);
  const koa = await measureKoa(echo, single);
  await echo.stop();
  for (const dialect of dialects) {
    for (const size of sizes) {
      const folder = await mkdtemp(join(tmpdir(), "till-bench-"));
      const place: StoreOptions =
        dialect === "sqlite" ? { sqliteFile: join(folder, "till.db") } : { url: await database() };
      await (await openLibrary(place, Math.round(size * scale))).app.stop();
      const target = await startTill(
        "url" in place ? { databaseUrl: place.url } : { sqliteFile: place.sqliteFile },
      );
      await warmUp([target], single);
      const measured: Figures[] = [];
      for (let round = 0; round < rounds; round += 1)
        measured.push(await measure([target], single));
      const name = `${single.name}, ${dialect === "sqlite" ? "SQLite" : "PostgreSQL"}, ${size.toLocaleString("en")}`;
      rows.push({ name, figures: medianOf(measured), koa });
      await target.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  return show(rows);
}

const parts = { requests, servers, growth };
try {
  for (const [name, part] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const text = await part();
    if (flags.includes("--write")) await writeSection(name, text);
  }
} finally {
  await postgres.stop();
  await receiver.close();
}
