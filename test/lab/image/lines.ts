// The lines of README.md and of docs/operating/install.md, run as they stand.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../support/programs/free-port.ts";
import { password } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";
import type { Engine } from "./engine.ts";
import { dockerLines } from "./page-lines.ts";
import type { Table } from "./table.ts";

const wayMsMax = 60_000;
/** The time within which a stopped server ends, in milliseconds, as install.md says. */
export const stopMsMax = 25_000;

/** Runs the lines of README.md: build, init, serve, and a command in a second container. */
export async function proveReadme(engine: Engine, table: Table, checkout: string): Promise<void> {
  const area = "README";
  const [build = "", init = "", serve = ""] = dockerLines(checkout, "README.md", "Run it");
  await ran(engine, table, { area, line: build, checkout });
  writeFileSync(join(checkout, "password.txt"), `${password}\n`);
  await ran(engine, table, { area, line: init, checkout });
  const { line, port } = await withFreePort(serve);
  const server = engine.start(["/bin/sh", "-c", `exec ${line}`], checkout);
  const ended = once(server, "exit") as Promise<[number | null]>;
  const url = `http://127.0.0.1:${String(port)}`;
  await untilReady(url);
  table.line(area, line, true, "it is ready");
  table.line(area, "the admin logs in with the password from standard input", await logsIn(url));
  await provesStatus(engine, table, area);
  for (const words of ["config check", "db verify"]) {
    const line = `docker run --rm -v till:/data till ${words}`;
    await ran(engine, table, { area, line, checkout });
  }
  const second = await engine.attempt(["run", "--rm", "--init", "-v", "till:/data", "till"]);
  table.line(
    area,
    "refuses a second server on the volume",
    second.status === 6,
    lastLine(second.stderr),
  );
  const container = await engine.run(["ps", "--quiet"]);
  const written = await engine.attempt(["exec", container, "touch", "/till/x"]);
  table.line(
    area,
    "cannot write to its root",
    /read-only/i.test(written.stderr),
    lastLine(written.stderr),
  );
  // Ctrl-C in the terminal of the line.
  server.kill("SIGINT");
  const [code] = await ended;
  table.line(area, "ends after Ctrl-C with exit code 0", code === 0, String(code));
}

/**
 * Reads the status of the server in a second container. A check that has not run yet is unknown, and the sources of rates
 * are not reachable everywhere.
 */
async function provesStatus(engine: Engine, table: Table, area: string): Promise<void> {
  const words = ["run", "--rm", "-v", "till:/data", "till", "ops", "status", "--json"];
  const shown = await until(
    "a status",
    async () => JSON.parse((await engine.attempt(words)).stdout) as Status,
    ({ infrastructure }) => Object.keys(infrastructure.checks).length > 0,
  );
  const troubles = Object.entries(shown.infrastructure.checks).filter(
    ([check, status]) => !["ok", "unknown"].includes(status) && check !== "rates",
  );
  table.line(
    area,
    "till ops status in a second container",
    troubles.length === 0,
    shown.infrastructure.checks,
  );
}

interface Status {
  readonly infrastructure: { readonly checks: Readonly<Record<string, string>> };
}

/** Runs the lines of the installation page, beside the server as they say. */
export async function proveInstallPage(
  engine: Engine,
  table: Table,
  checkout: string,
): Promise<void> {
  const area = "install.md";
  const [build = "", init = "", serve = ""] = dockerLines(
    checkout,
    "docs/operating/install.md",
    "Containers",
  );
  await ran(engine, table, { area, line: build, checkout });
  writeFileSync(join(checkout, "password"), `${password}\n`);
  await ran(engine, table, { area, line: init, checkout });
  const { line, port } = await withFreePort(serve);
  await ran(engine, table, { area, line, checkout });
  const url = `http://127.0.0.1:${String(port)}`;
  await untilReady(url);
  table.line(area, "the admin logs in", await logsIn(url));
  for (const words of ["org list", "backup"])
    await ran(engine, table, { area, line: `docker exec till till ${words}`, checkout });
  // Without --init the server is the first process, and gets the signal itself.
  const startedAt = performance.now();
  await engine.run(["stop", "--time", "40", "till"]);
  const ms = performance.now() - startedAt;
  const code = await engine.run(["inspect", "--format", "{{.State.ExitCode}}", "till"]);
  table.line(
    area,
    "stops within 25 s with exit code 0",
    code === "0" && ms < stopMsMax,
    `${code}, ${(ms / 1_000).toFixed(1)} s`,
  );
}

/** Runs a line in the checkout; it must succeed. */
async function ran(
  engine: Engine,
  table: Table,
  { area, line, checkout }: { area: string; line: string; checkout: string },
): Promise<void> {
  if (line === "") throw new Error("the page lacks a line");
  const startedAt = performance.now();
  const { status, stdout, stderr } = await engine.shell(line, checkout);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  table.line(area, line, status === 0, status === 0 ? `${seconds} s` : lastLine(stderr || stdout));
  if (status !== 0) throw new Error(`exit code ${String(status)}: ${stderr.slice(-2_000)}`);
}

/** Replaces the published port of a line if another program has it. */
async function withFreePort(
  line: string,
): Promise<{ readonly line: string; readonly port: number }> {
  const [, port = ""] = /-p (?:[\d.]+:)?(\d+):/.exec(line) ?? [];
  if (await isFree(Number(port))) return { line, port: Number(port) };
  const other = await freePort();
  return { line: line.replace(`${port}:`, `${String(other)}:`), port: other };
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = new Promise<boolean>((resolve) => {
    server.once("error", () => {
      resolve(false);
    });
    server.listen(port, () => {
      resolve(true);
    });
  });
  const does = await listens;
  server.close();
  return does;
}

/** Waits until a server answers that it is ready. */
export async function untilReady(url: string): Promise<void> {
  await until(
    `${url}/readyz`,
    async () => {
      const answer = await fetch(`${url}/readyz`).catch(() => null);
      if (answer === null) await delay(50);
      return answer?.status ?? 0;
    },
    (status) => status === 200,
    wayMsMax,
  );
}

async function logsIn(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "you@example.com", password }),
  });
  return answer.status === 200;
}

export function lastLine(said: string): string {
  return said.trim().split("\n").at(-1) ?? "";
}
