import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { compiledProgram } from "../programs/built.ts";
import { describeOnPostgres } from "./describe-on-postgres.ts";

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error("it did not come true in time");
    await delay(20);
  }
}

describeOnPostgres("a throwaway PostgreSQL", function () {
  this.timeout(120_000);

  before(function () {
    if (process.env["TEST_DATABASE_URL"] !== undefined) this.skip();
  });

  const endings = {
    "is stopped": "await server.stop();",
    "ends without stopping it": "process.exit(0);",
    fails: "throw new Error('on purpose');",
    "is killed": "setInterval(() => undefined, 1_000);",
  };
  for (const [ending, code] of Object.entries(endings)) {
    it(`is gone with its data when what started it ${ending}`, async () => {
      const harness = compiledProgram(new URL("postgres.ts", import.meta.url));
      const program = `
        const { startPostgres } = await import(${JSON.stringify(harness)});
        const server = await startPostgres();
        console.log(JSON.stringify({ pid: server.pid(), folder: server.folder }));
        ${code}`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      for await (const line of createInterface(child.stdout)) {
        const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
        if (ending === "is killed") {
          expect(isRunning(pid)).to.equal(true);
          child.kill("SIGKILL");
        }
        await until(() => !isRunning(pid) && !existsSync(folder));
      }
    });
  }
});
