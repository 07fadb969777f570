// One server with SQLite in a volume: its health, its end, its next start, and backups in volumes.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { familyOf } from "../../support/store/postgres.ts";
import { openShopIn, pay, quantile, shopSettings, type Shop } from "../shop.ts";
import { makeContainerInstallation, type ContainerInstallation } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { stopMsMax, untilReady } from "./lines.ts";
import type { Table } from "./table.ts";

const invoiceCount = 20;
const startCount = 5;
/** The user and the group of the image. */
const owner = "1000:1000";
/** The longest wait for a state of health: the time of a start, and the checks after it, in milliseconds. */
const healthMsMax = 120_000;
/** The time in which the engine starts a check on a busy machine, in milliseconds. */
const startMsMax = 20_000;
const settings = { ...shopSettings, TILL_BACKUP_FOLDER: "/backups" };
const volumes = (data: string) => ["--volume", `${data}:/data`, "--volume", "backups:/backups"];

export async function proveOneServer(engine: Engine, table: Table): Promise<void> {
  const installation = makeContainerInstallation(engine, {
    name: "shop",
    settings,
    words: volumes("shop"),
  });
  const shop = await openShopIn(installation);
  const checkouts = await shop.issue(invoiceCount);
  const paid = checkouts.filter((_, place) => place % 2 === 0);
  for (const id of paid) await pay(shop.server, id);
  const before = await untilPaid(shop, shop.server.url, paid.length);
  await table.part("user", () => proveUser(engine, table, installation));
  await table.part("health", () => proveHealth(engine, table, installation));
  const lists = { before, after: before };
  await table.part("stop", async () => {
    // An open page has a stream, which must not keep the server.
    const page = await fetch(`${shop.server.url}/pay/${checkouts[1] ?? ""}/events`);
    const startedAt = performance.now();
    const code = await shop.server.stop();
    const ms = performance.now() - startedAt;
    await page.body?.cancel().catch(() => undefined);
    table.line(
      "stop",
      `ends with exit code 0 within the stop time, with a page open (${String(page.status)})`,
      page.ok && code === 0 && ms < stopMsMax,
      `${String(code)}, ${(ms / 1_000).toFixed(1)} s`,
    );
    const next = await installation.serve();
    lists.after = await invoicesOf(shop, next.url);
    table.line(
      "second start",
      "has every invoice as before",
      same(lists.before, lists.after),
      `${String(lists.after.length)} invoices, ${String(paid.length)} paid`,
    );
    await proveVerified(table, "second start", installation);
  });
  await table.part("backup", () => proveBackups(engine, table, { installation, shop }));
  await table.part("start", () => measureStarts(engine, table));
}

/** The user of the process and of the files in the volume. */
async function proveUser(
  engine: Engine,
  table: Table,
  installation: ContainerInstallation,
): Promise<void> {
  const server = installation.newest();
  const id = await engine.run(["exec", server, "sh", "-c", "echo $(id -u):$(id -g)"]);
  table.line("user", "is not root", id === owner, id);
  const status = await engine.run([
    "exec",
    server,
    "sh",
    "-c",
    "grep -E 'CapEff|NoNewPrivs' /proc/1/status",
  ]);
  table.line(
    "user",
    "runs without capabilities, and can gain none",
    /CapEff:\s+0+\s+NoNewPrivs:\s+1/.test(status),
    status.replaceAll(/\s+/g, " "),
  );
  const folder = await engine.run(["volume", "inspect", "--format", "{{.Mountpoint}}", "shop"]);
  const files = ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })];
  const foreign = files.filter((name) => {
    const { uid, gid, mode } = lstatSync(join(folder, name));
    return `${String(uid)}:${String(gid)}` !== owner || (mode & 0o077) !== 0;
  });
  table.line(
    "user",
    "has a volume that only it can read",
    foreign.length === 0 && files.length > 2,
    foreign.length === 0 ? files.slice(1).join(" ") : foreign,
  );
}

/** The health check: of a server that runs, that is stuck, and that goes on. */
async function proveHealth(
  engine: Engine,
  table: Table,
  installation: ContainerInstallation,
): Promise<void> {
  const server = installation.newest();
  const of = (field: string) => engine.run(["inspect", "--format", `{{${field}}}`, server]);
  const { Timeout: timeoutNs } = JSON.parse(await of("json .Config.Healthcheck")) as {
    Timeout: number;
  };
  let slowestMs = 0;
  /** Runs the check as an engine does, until it says this. */
  const untilHealth = async (wanted: string) => {
    const deadline = performance.now() + healthMsMax;
    for (;;) {
      const startedAt = performance.now();
      await engine.attempt(["healthcheck", "run", server]);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      const status = await of(".State.Health.Status");
      if (status === wanted || performance.now() > deadline) return status;
      await delay(1_000);
    }
  };
  const first = await untilHealth("healthy");
  table.line("health", "of a server that is ready", first === "healthy", first);
  const pid = Number(await of(".State.Pid"));
  // Behind the init process.
  const [, process_ = pid] = familyOf(pid);
  slowestMs = 0;
  process.kill(process_, "SIGSTOP");
  try {
    const stuck = await untilHealth("unhealthy");
    table.line("health", "of a server that is stuck", stuck === "unhealthy", stuck);
    table.line(
      "health",
      "ends each check of a stuck server",
      slowestMs < timeoutNs / 1e6 + startMsMax,
      `${(slowestMs / 1_000).toFixed(1)} s at most`,
    );
  } finally {
    process.kill(process_, "SIGCONT");
  }
  const again = await untilHealth("healthy");
  table.line("health", "of a server that goes on", again === "healthy", again);
}

/** A backup beside the server, restored over the store, and into an empty volume. */
async function proveBackups(
  engine: Engine,
  table: Table,
  { installation, shop }: { installation: ContainerInstallation; shop: Shop },
): Promise<void> {
  const area = "backup";
  const url = await urlOf(engine, installation.newest());
  const before = await invoicesOf(shop, url);
  const own = await made(installation, ["backup"]);
  const whole = await made(installation, ["backup", "--with-secret"]);
  const folder = await engine.run(["volume", "inspect", "--format", "{{.Mountpoint}}", "backups"]);
  const about = lstatSync(join(folder, own.replace("/backups/", "")));
  const mode = `${String(about.uid)}:${String(about.gid)} ${(about.mode & 0o777).toString(8)}`;
  table.line(
    area,
    "is a file of its volume, for its user alone, made beside the server",
    mode === `${owner} 600`,
    `${own}, ${mode}`,
  );

  const late = await issueOne(shop, url);
  await engine.run(["stop", "--time", "30", installation.newest()]);
  await must(installation, ["restore", own, "--yes"]);
  const server = await installation.serve();
  const after = await invoicesOf(shop, server.url);
  table.line(
    area,
    "restored over the store takes it back",
    late && same(before, after),
    `${String(after.length)} invoices`,
  );
  const data = await engine.run(["volume", "inspect", "--format", "{{.Mountpoint}}", "shop"]);
  const kept = readdirSync(data).filter((name) => name.startsWith("till.db.before-restore-"));
  table.line(area, "keeps the former store", kept.length > 0, kept[0]);
  await proveVerified(table, area, installation);
  await server.stop();

  const other = makeContainerInstallation(engine, {
    name: "other",
    settings,
    words: volumes("other"),
  });
  await must(other, ["restore", whole, "--yes"]);
  const moved = await other.serve();
  const there = await invoicesOf(shop, moved.url);
  table.line(
    area,
    "restored with its secret into an empty volume has everything, and the key works",
    same(before, there),
    `${String(there.length)} invoices`,
  );
  await proveVerified(table, area, other);
  await moved.stop();
}

/** The time from `docker run` to the first answer of a store that exists. */
async function measureStarts(engine: Engine, table: Table): Promise<void> {
  const ready: number[] = [];
  for (let count = 1; count <= startCount; count += 1) {
    const installation = makeContainerInstallation(engine, {
      name: `start-${String(count)}`,
      settings,
      words: volumes("shop"),
    });
    const startedAt = performance.now();
    const server = await installation.serve();
    await untilReady(server.url);
    ready.push(performance.now() - startedAt);
    await server.stop();
  }
  ready.sort((one, other) => one - other);
  table.figure(
    "start",
    `from docker run to ready, ${String(startCount)} times`,
    `${(quantile(ready, 0.5) / 1_000).toFixed(1)} s (median), ${((ready.at(-1) ?? 0) / 1_000).toFixed(1)} s at most`,
  );
}

/** Runs a command, and returns what it prints. Throws if it fails. */
async function must(
  installation: ContainerInstallation,
  words: readonly string[],
): Promise<string> {
  const { status, stdout, stderr } = await installation.run(words);
  if (status !== 0) throw new Error(`till ${words.join(" ")}: ${stderr}`);
  return stdout;
}

/** Makes a backup, and returns its file. */
async function made(
  installation: ContainerInstallation,
  words: readonly string[],
): Promise<string> {
  return (await must(installation, [...words, "--quiet"])).trim();
}

async function proveVerified(
  table: Table,
  area: string,
  installation: ContainerInstallation,
): Promise<void> {
  for (const words of [
    ["db", "verify"],
    ["audit", "verify"],
  ]) {
    const { status, stderr } = await installation.run(words);
    table.line(area, `till ${words.join(" ")}`, status === 0, stderr.trim().slice(-200));
  }
}

async function urlOf(engine: Engine, server: string): Promise<string> {
  return `http://${await engine.run(["inspect", "--format", "{{.NetworkSettings.IPAddress}}", server])}:8080`;
}

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
}

/** Returns all invoices of a shop at a server. */
async function invoicesOf({ path, key }: Shop, url: string): Promise<readonly Listed[]> {
  await untilReady(url);
  const answer = await fetch(`${url}${path}/invoices?limit=100`, {
    headers: { "X-Service-Key": key },
  });
  if (answer.status !== 200)
    throw new Error(`the list of invoices was answered with ${String(answer.status)}`);
  const { data } = (await answer.json()) as { data: Listed[] };
  return data.map(({ id, status, amount }) => ({ id, status, amount }));
}

function same(one: readonly Listed[], other: readonly Listed[]): boolean {
  return one.length > 0 && JSON.stringify(one) === JSON.stringify(other);
}

/** Waits until as many invoices are paid, and returns all. */
async function untilPaid(shop: Shop, url: string, count: number): Promise<readonly Listed[]> {
  const deadline = performance.now() + healthMsMax;
  for (;;) {
    const all = await invoicesOf(shop, url);
    if (all.filter(({ status }) => status === "paid").length === count) return all;
    if (performance.now() > deadline) throw new Error("the invoices were not paid in time");
    await delay(200);
  }
}

async function issueOne({ path, key }: Shop, url: string): Promise<boolean> {
  const answer = await fetch(`${url}${path}/invoices`, {
    method: "POST",
    headers: {
      "X-Service-Key": key,
      "Content-Type": "application/json",
      "Idempotency-Key": "after-the-backup",
    },
    body: JSON.stringify({
      externalId: "late",
      amount: "77.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
    }),
  });
  return answer.status === 201;
}
