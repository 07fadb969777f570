import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { until } from "../until.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const suite = "test/support/programs/lingering.ts";

describe("a server that a suite has started", () => {
  let folder: string;
  let child: ChildProcess | null = null;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "till-guard-"));
  });
  afterEach(async () => {
    child?.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the waiting suite; returns the ids of its process and of its server once both run. */
  async function run(program: string, env: NodeJS.ProcessEnv = {}): Promise<readonly number[]> {
    const notes = join(folder, "pids");
    child = spawn(process.execPath, [program, suite], {
      cwd: root,
      env: { ...process.env, ...env, LINGERING_PIDS: notes },
      stdio: "ignore",
    });
    const text = () => (existsSync(notes) ? readFileSync(notes, "utf8") : "");
    const written = await until("the server", text, (pids) => pids.endsWith("\n"));
    const pids = written.trim().split(" ").map(Number);
    expect(pids.filter(isRunning)).to.have.length(2);
    return pids;
  }

  async function expectGone(pids: readonly number[]): Promise<void> {
    await until(
      "the end",
      () => pids.filter(isRunning),
      (left) => left.length === 0,
    );
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    it(`ends when npm test is ended by ${signal}`, async () => {
      // Only one of them with a server of Till; the others need no program.
      const pids = await run(
        ".config/test.mjs",
        signal === "SIGKILL" ? { LINGERING_DEMO: "1" } : {},
      );
      child?.kill(signal);
      await once(child as ChildProcess, "exit");
      await expectGone(pids);
    });
  }

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`ends when mocha alone is ended by ${signal}`, async () => {
      const pids = await run("node_modules/mocha/bin/mocha.js");
      const [mocha] = pids;
      if (mocha === undefined) throw new Error("no suite runs");
      process.kill(mocha, signal);
      await expectGone(pids);
    });
  }
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
