// npm run bench: compares the cost of issuing an invoice with a Koa server that echoes the same body, in one run. The
// server has one core and the load the other; on a shared machine only the ratios are meaningful.
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { createInterface } from "node:readline";
import { compiledProgram } from "../support/programs/built.ts";
import { startPostgres } from "../support/store/postgres.ts";
import autocannon, { type Request, type Result } from "autocannon";

const callers = 64;
const seconds = Number(process.env["BENCH_SECONDS"] ?? "8");
const dialects = (process.env["BENCH_STORES"] ?? "sqlite,postgres").split(",");

interface Target {
  readonly url: string;
  readonly path: string;
  readonly key?: string;
  readonly checkoutId?: string;
  readonly child: ChildProcess;
}

/** Starts a server, on the first core if the system allows choosing. */
async function start(kind: string, databaseUrl?: string): Promise<Target> {
  const file = compiledProgram(new URL("target.ts", import.meta.url));
  const node = [process.execPath, file, kind].concat(databaseUrl ?? []);
  const pinned = cpus().length > 1 ? ["taskset", "-c", "0", ...node] : node;
  const [command = "", ...args] = pinned;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { ...(JSON.parse(line) as Omit<Target, "child">), child };
  }
  throw new Error(`the target ${kind} ended before it answered`);
}

async function stop(target: Target): Promise<void> {
  const ended = new Promise((resolve) => target.child.once("exit", resolve));
  target.child.stdin?.end();
  await ended;
}

function invoice(): string {
  const cents = 100 + Math.floor(Math.random() * 99_900);
  const amount = `${String(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
  return JSON.stringify({
    amount,
    settlementCurrency: "USD",
    tokenSymbol: "USDT",
    network: "sandbox",
    description: "An order of the bench",
    metadata: { order: amount },
  });
}

async function load(target: Target, request: Request): Promise<Result> {
  const shared = { url: target.url, connections: callers, requests: [request] };
  await autocannon({ ...shared, duration: 2 });
  return autocannon({ ...shared, duration: seconds });
}

function posts(target: Target): Request {
  return {
    method: "POST",
    path: target.path,
    setupRequest: (request) => ({
      ...request,
      headers: {
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        ...(target.key === undefined ? {} : { "x-service-key": target.key }),
      },
      body: invoice(),
    }),
  };
}

function gets(target: Target): Request {
  const path = target.checkoutId === undefined ? "/" : `/v1/checkout/${target.checkoutId}`;
  return { method: "GET", path };
}

function show(name: string, result: Result, echo?: Result): void {
  const { requests, latency, non2xx, errors } = result;
  const ratio =
    echo === undefined ? "" : `  ${(requests.average / echo.requests.average).toFixed(3)} × Koa`;
  console.log(
    `${name.padEnd(34)} ${requests.average.toFixed(0).padStart(7)}/s  p50 ${String(latency.p50)} ms  p99 ${String(latency.p99)} ms${ratio}`,
  );
  if (non2xx + errors > 0) {
    console.log(`  ${String(non2xx)} answers were not 2xx, ${String(errors)} requests failed`);
    process.exitCode = 1;
  }
}

const echo = await start("echo");
const echoPosts = await load(echo, posts(echo));
const echoGets = await load(echo, gets(echo));
await stop(echo);
show("Koa, echo of the body", echoPosts);
show("Koa, a small answer", echoGets);

for (const dialect of dialects) {
  // The database's processes may use any core: they are not measured.
  const postgres = dialect === "postgres" ? await startPostgres({ fsync: true }) : null;
  const till = await start(dialect, postgres?.url("postgres"));
  show(`POST invoices, ${dialect}`, await load(till, posts(till)), echoPosts);
  show(`GET checkout, ${dialect}`, await load(till, gets(till)), echoGets);
  await stop(till);
  await postgres?.stop();
}
