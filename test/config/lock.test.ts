import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

interface Lock {
  readonly packages: Record<string, Record<string, unknown>>;
}

const root = new URL("../../", import.meta.url);

describe("the check of the lock file", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "till-lock-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  function check(change: (packages: Lock["packages"]) => void): { status: number; told: string } {
    const lock = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8")) as Lock;
    change(lock.packages);
    const file = join(folder, "package-lock.json");
    writeFileSync(file, JSON.stringify(lock));
    const script = fileURLToPath(new URL(".config/check-lock.mjs", root));
    const { status, stderr } = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
    return { status: status ?? -1, told: stderr };
  }

  it("accepts the lock file as it is", () => {
    expect(check(() => undefined)).to.deep.equal({ status: 0, told: "" });
  });

  it("refuses a package without a hash, or with a weak one, by its name", () => {
    const { status, told } = check((packages) => {
      delete packages["node_modules/koa"]?.["integrity"];
      Object.assign(packages["node_modules/zod"] ?? {}, { integrity: "sha1-AAAA" });
    });
    expect(status).to.equal(1);
    expect(told).to.match(/node_modules\/koa: it has no integrity hash/);
    expect(told).to.match(/node_modules\/zod: its integrity is not a SHA-512 hash/);
  });

  it("allows no exception for a package that a server on Linux installs", () => {
    const { status, told } = check((packages) => {
      const excused = packages["node_modules/@foundry-rs/anvil-linux-arm64"];
      delete excused?.["cpu"];
    });
    expect([status, told.includes("only optional tools of other systems")]).to.deep.equal([
      1,
      true,
    ]);
  });
});
