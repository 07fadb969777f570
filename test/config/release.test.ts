// npm run release, in copies of this repository. Git, which an unpacked archive does not have, is replaced at its edge.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { programVersion } from "../../src/platform/files.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface PartsList {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
  readonly components: readonly { readonly name: string; readonly licenses?: unknown }[];
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const version = programVersion();
const copied = [".config", "bin", "config", "dist", "docs", "src"].concat([
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "README.md",
]);
const git = `#!/bin/sh
case "$1" in
  status) printf %s "$TILL_TEST_CHANGES" ;;
  log) echo 2031-01-31T01:00:00+01:00 ;;
esac
`;

describe("a release", () => {
  let folder = "";
  /** The folder in which it was made, and the files. */
  let source = "";
  let output = "";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "till-release-"));
    mkdirSync(join(folder, "programs"));
    writeFileSync(join(folder, "programs/git"), git, { mode: 0o755 });
    source = copyOf("one");
    output = join(source, "release", version);
    const { status, told } = release(source);
    expect(status, told).to.equal(0);
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Copies what a release reads; the newest heading of the changelog is that of the version. */
  function copyOf(name: string): string {
    const copy = join(folder, name);
    for (const each of copied) cpSync(join(root, each), join(copy, each), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    const notes = `# Changelog\n\n## ${version}\n\n- New.\n\n## 0.0.1\n\n- Old.\n`;
    writeFileSync(join(copy, "CHANGELOG.md"), notes);
    const kept = join(copy, "docs/releases", version, "openapi.json");
    mkdirSync(dirname(kept), { recursive: true });
    if (!existsSync(kept)) writeFileSync(kept, "{}\n");
    return copy;
  }

  function release(copy: string, more: Readonly<Record<string, string>> = {}) {
    const { status, stderr, stdout } = spawnSync(
      "/bin/sh",
      ["-c", 'umask "$1"; exec "$2" .config/release.mjs --without-checks', "sh"].concat(
        more["UMASK"] ?? "022",
        process.execPath,
      ),
      {
        cwd: copy,
        encoding: "utf8",
        env: {
          ...process.env,
          PATH: `${join(folder, "programs")}:${process.env["PATH"] ?? ""}`,
          ...more,
        },
      },
    );
    return { status, told: `${stdout}${stderr}` };
  }

  const read = (...path: readonly string[]) => readFileSync(join(...path), "utf8");
  const parsed = (...path: readonly string[]): unknown => JSON.parse(read(...path));

  it("has the same bytes in another folder, at another time and under another umask", () => {
    const copy = copyOf("two");
    for (const name of ["config", "docs"]) chmodSync(join(copy, name), 0o700);
    const { status, told } = release(copy, { UMASK: "077" });
    expect(status, told).to.equal(0);
    expect(read(copy, "release", version, "SHA256SUMS")).to.equal(read(output, "SHA256SUMS"));
    rmSync(copy, { recursive: true });
  });

  it("has sums that fit, and the notes of its version alone", () => {
    const { status } = spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], {
      cwd: output,
    });
    expect(status).to.equal(0);
    expect(readdirSync(output)).to.have.members([
      ...["LICENSES.txt", "NOTES.md", "SHA256SUMS", "sbom.cdx.json"],
      ...[`till-${version}.tgz`, `till-client-${version}.tgz`],
    ]);
    expect(read(output, "NOTES.md")).to.equal(`# Till ${version}\n\n- New.\n`);
  });

  it("lists every part of production with its license, and no tool of the build", () => {
    const own = parsed(root, "package.json") as Manifest;
    const list = parsed(output, "sbom.cdx.json") as PartsList;
    const names = list.components.map(({ name }) => name);
    // ms is needed by a part of production, and by tools of the build.
    expect(names).to.include.members(["ms", "sqlite3", ...Object.keys(own.dependencies)]);
    expect(names).not.to.include.members(["mocha", "typescript"]);
    expect(list.components.filter(({ licenses }) => licenses === undefined)).to.deep.equal([]);
    expect(list.serialNumber).to.match(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(list.metadata).to.deep.include({ timestamp: "2031-01-31T00:00:00.000Z" });
    expect(list.metadata.component.name).to.equal("till");
    const licenses = read(output, "LICENSES.txt");
    for (const name of names) expect(licenses).to.match(new RegExp(`^${name} \\d`, "m"));
    expect(licenses).to.include("THE SOFTWARE IS PROVIDED");
  });

  it("runs with the few packages that it installs", () => {
    const place = join(folder, "installed");
    mkdirSync(place);
    const archive = join(output, `till-${version}.tgz`);
    const opened = spawnSync("tar", ["xzf", archive, "-C", place, "--strip-components=1"]);
    expect(opened.status).to.equal(0);
    const manifest = parsed(place, "package.json") as Manifest;
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    expect(needed).to.have.members(["@node-rs/argon2", "sqlite3"]);
    const { packages } = parsed(place, "npm-shrinkwrap.json") as { packages: object };
    expect(packages).to.include.keys(needed.map((name) => `node_modules/${name}`));
    expect(packages).not.to.include.keys("node_modules/koa");
    for (const name of needed) {
      mkdirSync(dirname(join(place, "node_modules", name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(place, "node_modules", name));
    }
    const env = { PATH: process.env["PATH"], TILL_DATA_DIR: join(folder, "data") };
    const account = ["--admin-email", "ada@example.com", "--admin-name", "Ada"];
    const init = ["init", ...account, "--organization", "Shop", "--networks", "sandbox"];
    for (const words of [
      [...init, "--password-stdin"],
      ["org", "list"],
    ]) {
      const input = "a long password 7";
      const { status, stderr } = spawnSync(join(place, "bin/till"), words, { env, input });
      expect(status, `${words.join(" ")}: ${stderr.toString()}`).to.equal(0);
    }
  });

  it("is refused, with every reason at once, and leaves nothing", () => {
    rmSync(join(source, "release"), { recursive: true });
    rmSync(join(source, "docs/releases", version), { recursive: true });
    writeFileSync(join(source, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- New.\n");
    const lock = read(source, "package-lock.json")
      .replace(`"version": "${version}"`, '"version": "9.9.9"')
      .replaceAll('"license": "MIT"', '"license": "AGPL-3.0-only"');
    writeFileSync(join(source, "package-lock.json"), lock);
    const { status, told } = release(source, { TILL_TEST_CHANGES: " M src/server.ts" });
    expect(status).to.equal(1);
    expect(told).to.include(`CHANGELOG.md is "Unreleased", and package.json has ${version}`);
    expect(told).to.include("package-lock.json has the version 9.9.9");
    expect(told).to.include(`docs/releases/${version}/openapi.json is missing`);
    expect(told).to.match(/node_modules\/koa: the license AGPL-3.0-only is not accepted/);
    expect(told).to.include("The working tree has changes:\nM src/server.ts");
    expect(existsSync(join(source, "release"))).to.equal(false);
  });
});
