// Servers of the bench, and the fixed work that they are given.
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import autocannon, { type Request, type Result } from "autocannon";
import { compiledProgram } from "../../support/programs/built.ts";
import type { Metered } from "./meter.ts";

/** How a target is started. */
export interface TargetOptions {
  readonly kind: "echo" | "till";
  /** By default a fresh SQLite file. */
  readonly databaseUrl?: string | undefined;
  readonly sqliteFile?: string | undefined;
  /** The URL of the receiver of webhooks. */
  readonly receiver?: string;
  /** The number of API keys, over which the load is spread. */
  readonly keys?: number;
  /** A merchant that another server has created in the same store. */
  readonly merchant?: Merchant;
}

export interface Merchant {
  /** The path of the organization. */
  readonly path: string;
  readonly keys: readonly string[];
}

export interface Started extends Merchant {
  readonly url: string;
}

export interface Target extends Started {
  readonly isTill: boolean;
  /** Returns the server's figures since the last call. */
  meter(): Promise<Metered>;
  stop(): Promise<void>;
}

/** A kind of work: requests, and the number of invoices or answers in each. */
export interface Work {
  readonly name: string;
  readonly requests: number;
  readonly units: number;
  readonly callers: number;
  readonly request: (target: Target) => Promise<Request>;
}

/** The figures of one window, per unit of work unless stated otherwise. */
export interface Figures {
  readonly mainMs: number;
  readonly othersMs: number;
  readonly gcMs: number;
  readonly statements: number;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  /** Units per second. */
  readonly rate: number;
  /** Latency of a request, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Of the process, in MiB. */
  readonly rss: number;
}

/** The time in which background work follows the load, in milliseconds. It belongs to the window. */
const settleMs = 2_200;
/** The warm-up ends when the CPU times of two windows differ by less than this share. */
const agreement = 0.1;
const warmUpsMax = 6;
/** The time after which a request counts as failed, in seconds: a crowded machine is slow, not broken. */
const timeoutSeconds = 60;

/** Starts a server in a process of its own, on a list of cores such as `0` or `0-3`; on any core without one. */
export async function start(options: TargetOptions, cores?: string): Promise<Target> {
  const file = compiledProgram(new URL("target.ts", import.meta.url));
  const node = [process.execPath, file, JSON.stringify(options)];
  const isPinned = cores !== undefined && process.platform === "linux";
  const [command = "", ...args] = isPinned ? ["taskset", "-c", cores, ...node] : node;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function next<T>(): Promise<T> {
    const line = await lines.next();
    if (line.done === true) throw new Error(`the target ${options.kind} ended`);
    return JSON.parse(line.value) as T;
  }
  const started = await next<Started>();
  return {
    ...started,
    isTill: options.kind === "till",
    meter() {
      child.stdin.write("\n");
      return next<Metered>();
    },
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  await ended;
}

/** Gives the work to servers at the same time, in equal parts, and returns the figures of all of them together. */
export async function measure(targets: readonly Target[], work: Work): Promise<Figures> {
  for (const target of targets) await target.meter();
  const share = { ...work, requests: Math.ceil(work.requests / targets.length) };
  const units = share.requests * work.units * targets.length;
  const startedAt = performance.now();
  const latencies = await Promise.all(targets.map((target) => load(target, share)));
  const lastAt = Math.max(...latencies.map((each) => each.lastAt));
  const seconds = (lastAt - startedAt) / 1_000;
  if (targets.some(({ isTill }) => isTill)) await delay(settleMs);
  const metered = await Promise.all(targets.map((target) => target.meter()));
  const sum = (of: (each: Metered) => number) =>
    metered.reduce((total, each) => total + of(each), 0);
  return {
    mainMs: sum((each) => each.mainMs) / units,
    othersMs: sum((each) => each.othersMs) / units,
    gcMs: sum((each) => each.gcMs) / units,
    statements: sum((each) => each.statements) / units,
    inserted: sum((each) => each.inserted) / units,
    updated: sum((each) => each.updated) / units,
    deleted: sum((each) => each.deleted) / units,
    rate: units / seconds,
    p50: Math.max(...latencies.map(({ p50 }) => p50)),
    p99: Math.max(...latencies.map(({ p99 }) => p99)),
    rss: Math.max(...metered.map(({ rssMiB }) => rssMiB)),
  };
}

/** Repeats half of the work until the CPU times of two windows agree. */
export async function warmUp(targets: readonly Target[], work: Work): Promise<void> {
  const part = { ...work, requests: Math.ceil(work.requests / 2) };
  let last = Number.POSITIVE_INFINITY;
  for (let count = 0; count < warmUpsMax; count += 1) {
    const { mainMs, othersMs } = await measure(targets, part);
    const now = mainMs + othersMs;
    if (Math.abs(now - last) < agreement * now) return;
    last = now;
  }
}

/** Returns the latencies in milliseconds, and the time of the last response. */
async function load(
  target: Target,
  work: Work,
): Promise<{ readonly p50: number; readonly p99: number; readonly lastAt: number }> {
  const request = await work.request(target);
  let lastAt = 0;
  const { latency, non2xx, errors } = await new Promise<Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: target.url,
        connections: Math.min(work.callers, work.requests),
        amount: work.requests,
        requests: [request],
        timeout: timeoutSeconds,
      },
      (error: Error | null, result) => {
        if (error === null) resolve(result);
        else reject(error);
      },
    );
    // The run itself ends at the next full second.
    run.on("response", () => (lastAt = performance.now()));
  });
  if (non2xx + errors > 0) {
    throw new Error(
      `${work.name}: ${String(non2xx)} answers were not 2xx, ${String(errors)} requests failed`,
    );
  }
  return { ...latency, lastAt };
}

/** Creates invoices one by one. */
export function singles(requests: number): Work {
  return {
    name: "POST /invoices",
    requests,
    units: 1,
    callers: 64,
    request: (target) => Promise.resolve(posting(target, "/invoices", invoice)),
  };
}

/** Creates invoices by the hundred. */
export function batches(requests: number): Work {
  const units = 100;
  const body = () => ({
    invoices: Array.from({ length: units }, () => ({ ...invoice(), externalId: randomUUID() })),
  });
  return {
    name: "POST /invoices/batch, by invoice",
    requests,
    units,
    callers: 2,
    request: (target) => Promise.resolve(posting(target, "/invoices/batch", body)),
  };
}

/** Reads checkouts, each request another one of the newest. */
export function checkouts(requests: number): Work {
  return {
    name: "GET /checkout",
    requests,
    units: 1,
    callers: 64,
    async request(target) {
      const ids = target.isTill ? await newestCheckouts(target) : [""];
      let place = 0;
      return {
        method: "GET",
        path: "/",
        setupRequest(request) {
          place += 1;
          const id = ids[place % ids.length] ?? "";
          return { ...request, path: id === "" ? "/" : `/v1/checkout/${id}` };
        },
      };
    },
  };
}

/** The number of distinct checkouts that are read. */
const checkoutsRead = 1_000;

async function newestCheckouts({ url, path, keys }: Target): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = "";
  while (ids.length < checkoutsRead && cursor !== null) {
    const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(`${url}${path}/invoices?limit=100&status=open${query}`, {
      headers: { "X-Service-Key": keys[0] ?? "" },
    });
    const page = (await answer.json()) as {
      readonly data: readonly { readonly checkoutId: string }[];
      readonly nextCursor: string | null;
    };
    ids.push(...page.data.map(({ checkoutId }) => checkoutId));
    cursor = page.nextCursor;
  }
  return ids;
}

function posting(target: Target, path: string, body: () => unknown): Request {
  let place = 0;
  return {
    method: "POST",
    path: target.isTill ? `${target.path}${path}` : "/",
    setupRequest(request) {
      place += 1;
      const key = target.keys[place % target.keys.length];
      return {
        ...request,
        headers: {
          "content-type": "application/json",
          "idempotency-key": randomUUID(),
          ...(key === undefined ? {} : { "x-service-key": key }),
        },
        body: JSON.stringify(body()),
      };
    },
  };
}

function invoice(): Record<string, unknown> {
  const cents = 100 + Math.floor(Math.random() * 99_900);
  const amount = `${String(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
  return {
    amount,
    settlementCurrency: "USD",
    tokenSymbol: "USDT",
    network: "sandbox",
    description: "An order of the bench",
    metadata: { order: amount },
  };
}
