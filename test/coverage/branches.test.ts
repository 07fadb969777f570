import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import ts from "typescript";
import { filesAt, readSource } from "../mutation/areas.ts";
import { instrument, type Branch } from "./branches.ts";
import { readExcuses, wholeSources } from "./whole.ts";

const recorder = fileURLToPath(new URL("recorder.cjs", import.meta.url));

/** One of each kind, and what does not count: `?.`, loops and assertions. */
const source = `
interface Choice { size?: number }
function go(on: boolean, size: number | null = 3, { unit = "cm" } = {}): string {
  assert(on || size !== 7);
  if (on) size ??= 5;
  for (let i = 0; i < 2; i += 1) unit?.trim();
  try {
    JSON.parse(unit);
  } catch {
    unit = on && size === 3 ? "m" : unit;
  }
  switch (unit) {
    case "m":
      return unit;
    default:
      return (size ?? 0) > 1 || on ? "big" : "small";
  }
}
function assert(isTrue: boolean): void { return; }
`;

describe("The branches of a source", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "till-branches-"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const { text, branches } = instrument("go.ts", source, 101);

  /** The branches that a process takes which runs the source and then `calls`. */
  function takenBy(calls: string): readonly string[] {
    const notes = mkdtempSync(join(folder, "notes-"));
    const program = join(folder, "go.cjs");
    writeFileSync(program, ts.transpile(text, { target: ts.ScriptTarget.ES2022 }) + calls);
    const env = { ...process.env, NODE_OPTIONS: "", COVERAGE_NOTES: notes };
    const { status } = spawnSync(process.execPath, ["--require", recorder, program], { env });
    expect(status).to.equal(0);
    const taken = readdirSync(notes).flatMap((name) =>
      readFileSync(join(notes, name), "utf8").split("\n").map(Number),
    );
    return branches.filter(({ number }) => taken.includes(number)).map(nameOf);
  }

  function nameOf({ text: place, way }: Branch): string {
    return `${place}: ${way}`;
  }

  it("are both ways of each condition and left side, and each default, case and catch", () => {
    expect(branches.map(nameOf)).to.deep.equal([
      "3: used",
      '"cm": used',
      "{}: used",
      "on: true",
      "on: false",
      "5: used",
      "on: true",
      "on: false",
      "on && size === 3: true",
      "on && size === 3: false",
      "catch: caught",
      'case "m": used',
      "size: null",
      "size: not null",
      "(size ?? 0) > 1: true",
      "(size ?? 0) > 1: false",
      "(size ?? 0) > 1 || on: true",
      "(size ?? 0) > 1 || on: false",
      "default: used",
    ]);
    expect(branches.map(({ number }) => number)).to.deep.equal(
      branches.map((_, place) => 101 + place),
    );
    expect(branches[0]).to.include({ file: "go.ts", line: 3, within: "go" });
  });

  it("are taken by the calls that go there, and by no others", () => {
    expect(takenBy("go(true)")).to.deep.equal([
      "3: used",
      '"cm": used',
      "{}: used",
      "on: true",
      "on: true",
      "on && size === 3: true",
      "catch: caught",
      'case "m": used',
    ]);
    expect(takenBy('go(false, null, { unit: "1" })')).to.deep.equal([
      "on: false",
      "size: null",
      "(size ?? 0) > 1: false",
      "(size ?? 0) > 1 || on: false",
      "default: used",
    ]);
    expect(takenBy('go(true, null, { unit: "x" })')).to.include.members([
      "5: used",
      "on && size === 3: false",
      "size: not null",
      "(size ?? 0) > 1 || on: true",
    ]);
  });
});

describe("The branches that no test can take", () => {
  it("are excused once each, with a reason, and are there, in a source whose branches must be taken", () => {
    const keys = readExcuses().map(({ reason, ...key }) => {
      expect(reason, key.text).to.match(/^[A-Z].{20,}\.$/s);
      return JSON.stringify(key);
    });
    expect(new Set(keys).size).to.equal(keys.length);
    const there = new Set(
      wholeSources
        .flatMap((path) => filesAt(path, ".ts"))
        .flatMap((path) => instrument(path, readSource(path), 1).branches)
        .map(({ file, within, text, way }) => JSON.stringify({ file, within, text, way })),
    );
    for (const key of keys) expect(there.has(key), key).to.equal(true);
  });
});
