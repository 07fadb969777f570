import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { builtProgram } from "../../support/programs/built.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { till } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";

/** `till demo` beside a shop. */
export interface TillBeside {
  readonly url: string;
  readonly organization: string;
  /** The exports that the demo prints, for commands of `till`. */
  readonly env: Readonly<Record<string, string>>;
  /** A command of `till`; returns what it prints as JSON. */
  run<T = Readonly<Record<string, unknown>>>(...words: readonly string[]): Promise<T>;
  /** A call of the API with a key that may do everything; the path begins after that of the organization. */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Starts a demo with its data below `parent`. */
export async function startTill(parent: string, name: string, port = 0): Promise<TillBeside> {
  const log = join(parent, `${name}.log`);
  const data = join(parent, name);
  const output = join(parent, `${name}.out`);
  const child = spawn(
    process.execPath,
    [builtProgram(), "demo", "--json", "--port", String(port), "--data-dir", data],
    {
      env: {
        PATH: process.env["PATH"] ?? "",
        TILL_SANDBOX_BLOCK_MS: "500",
        TILL_RATE_LIMIT_SCALE: "100",
      },
      stdio: ["ignore", openSync(output, "a"), openSync(log, "a")],
    },
  );
  endWithThisProcess(child);
  const ended = once(child, "exit");
  const printed = await until(
    "till demo",
    () => {
      if (child.exitCode !== null) throw new Error(`till demo ended: ${readFileSync(log, "utf8")}`);
      return readFileSync(output, "utf8");
    },
    (text) => text.endsWith("\n"),
  );
  const { apiBase, apiKey } = JSON.parse(printed) as { apiBase: string; apiKey: string };
  const headers = { "X-Service-Key": apiKey, "Content-Type": "application/json" };
  const request = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${apiBase}${path}`, {
      method,
      headers: method === "GET" ? headers : { ...headers, "Idempotency-Key": crypto.randomUUID() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const me = await request<{ organizations: { organizationId: string }[] }>("GET", "/me");
  const organization = me.organizations[0]?.organizationId ?? "";
  const env = { TILL_DATA_DIR: data, TILL_ORGANIZATION: organization };
  return {
    url: new URL(apiBase).origin,
    organization,
    env,
    async run<T>(...words: readonly string[]) {
      const { code, stdout, stderr } = await till([...words, "--yes", "--json"], { env });
      if (code !== 0) throw new Error(`till ${words.join(" ")}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    api: (method, path, body) => request(method, `/organizations/${organization}${path}`, body),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
