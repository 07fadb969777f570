import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { compiledProgram } from "../programs/built.ts";
import { until } from "../until.ts";
import { describeOnPostgres } from "./describe-on-postgres.ts";

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describeOnPostgres("a throwaway PostgreSQL", () => {
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
        await until("the end", () => !isRunning(pid) && !existsSync(folder), Boolean);
      }
    });
  }
});
