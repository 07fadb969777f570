// .config/build.mjs, in a copy of this repository.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { builtProgram } from "../support/programs/built.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const copied = [".config", "bin", "config", "dist", "docs", "src"].concat([
  "package.json",
  "package-lock.json",
  "tsconfig.json",
]);

describe("the build", () => {
  let folder = "";

  beforeEach(() => {
    builtProgram();
    folder = mkdtempSync(join(tmpdir(), "till-build-"));
    for (const each of copied) cpSync(join(root, each), join(folder, each), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function build() {
    const words = [".config/build.mjs", "--if-stale"];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      cwd: folder,
      encoding: "utf8",
    });
    return { status, told: `${stdout}${stderr}` };
  }

  const inCopy = (path: string) => join(folder, path);
  /** Returns the names of files that a build leaves besides its results. */
  const left = () => (existsSync(inCopy("dist.next")) ? readdirSync(inCopy("dist.next")) : []);
  const built = () => statSync(inCopy("dist")).ino;

  it("writes a generated file again that is missing, and does nothing if none is", () => {
    const before = built();
    expect(build()).to.deep.equal({ status: 0, told: "" });
    expect(built()).to.equal(before);
    const path = "src/client/generated/records.ts";
    rmSync(inCopy(path));
    const { status, told } = build();
    expect(status, told).to.equal(0);
    expect(readFileSync(inCopy(path), "utf8")).to.equal(readFileSync(join(root, path), "utf8"));
    expect(left()).to.deep.equal([]);
    expect(built()).not.to.equal(before);
  });

  it("refuses a faulty shipped file of a language by its file and line, and leaves the former program", () => {
    const before = built();
    const german = inCopy("config/languages/de.yaml");
    const text = readFileSync(german, "utf8");
    writeFileSync(german, text.replace(/^payTitle:.*$/m, 'payTitle: "Zahle <b>{amont}"'));
    rmSync(inCopy("config/languages/fr.yaml"));
    const line = text.slice(0, text.search(/^payTitle:/m)).split("\n").length;
    const { status, told } = build();
    expect(status).to.equal(1);
    expect(told)
      .to.include(`payTitle in ${german}:${String(line)} must have the placeholders`)
      .and.include("fr.yaml:1 cannot be read (ENOENT): restore the file")
      .and.include("npm run docs");
    expect(built()).to.equal(before);
    expect(left()).to.deep.equal([]);
  });

  it("leaves nothing behind if the files cannot be generated", () => {
    const before = built();
    writeFileSync(inCopy("src/http/document/examples/operations.json"), "{");
    const { status, told } = build();
    expect(status).to.equal(1);
    expect(told).to.include("SyntaxError");
    expect(left()).to.deep.equal([]);
    expect(built()).to.equal(before);
  });
});
