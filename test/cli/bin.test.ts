import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, existsSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { endWithThisProcess } from "../support/programs/guard.ts";
import { until } from "../support/until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "bin/till");

describe("bin/till", () => {
  before(function () {
    if (existsSync(join(root, "dist/program/main.js"))) return;
    if (process.env["TILL_TEST_NO_SKIP"] === "1") throw new Error("run npm run build first");
    this.skip();
  });

  it("runs the built program", () => {
    const { status, stdout } = spawnSync(process.execPath, [bin, "help", "exit-codes"]);
    expect(status).to.equal(0);
    expect(stdout.toString()).to.include("invalid settings");
  });

  it("explains a wrong command as the source does", () => {
    const { status, stderr } = spawnSync(process.execPath, [bin, "org", "lst"]);
    expect(status).to.equal(2);
    expect(stderr.toString()).to.equal("Unknown command 'lst'. (Did you mean list?)\n");
  });

  it("says so and ends with 1 if its output cannot be written", () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [bin, "help", "exit-codes"], {
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    expect(status).to.equal(1);
    expect(stderr.toString()).to.match(/^The output was not written completely: ENOSPC/);
  });

  it("runs in another folder, without its sources", async () => {
    const folder = await mkdtemp(join(tmpdir(), "till bin "));
    for (const name of ["package.json", "bin", "dist/program"]) {
      cpSync(join(root, name), join(folder, name), { recursive: true });
    }
    const words = [join(folder, "bin/till"), "org", "--help"];
    const { stdout } = spawnSync(process.execPath, words, { cwd: folder });
    expect(stdout.toString()).to.include("Usage: till org");
    await rm(folder, { recursive: true });
  });

  it("makes a store and serves it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "till bin "));
    const env = { PATH: process.env["PATH"] ?? "", TILL_DATA_DIR: folder, TILL_RATES: "off" };
    const admin = ["--admin-email", "ada@example.com", "--admin-name", "Ada"];
    const init = ["init", ...admin, "--organization", "Shop", "--password-stdin"];
    const made = spawnSync(process.execPath, [bin, ...init], {
      env,
      input: "a long password of the tests 7\n",
      encoding: "utf8",
    });
    expect(made.status, made.stderr).to.equal(0);
    const child = spawn(process.execPath, [bin, "serve", "--port", "0"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    endWithThisProcess(child);
    const gone = once(child, "exit");
    try {
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
      const url = await until(
        "a server",
        () => /http:\S+/.exec(said)?.[0],
        (found) => found !== undefined,
      );
      expect((await fetch(`${String(url)}/healthz`)).status).to.equal(200);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await gone).to.deep.equal([0, null]);
    await rm(folder, { recursive: true });
  });
});
