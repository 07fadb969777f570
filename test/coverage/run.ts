// npm run coverage [-- test/… …] [--add] [--missing PATH]: runs tests, by default all, with a note at each branch of the
// features and the kernel, and prints which part of each folder's branches they take. --add adds the branches that the
// last run took, --missing lists those of a path that are not taken. Fails when tests fail, when a branch of the sources
// in whole.ts is not taken and has no excuse in excused.yaml, and when an excuse is not needed. Runs of a part judge only
// the sources that they reach.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { filesAt, root } from "../mutation/areas.ts";
import { copyProject } from "../mutation/copy.ts";
import { instrument, type Branch } from "./branches.ts";
import { isExcuseOf, readExcuses, reportedFolders, wholeSources } from "./whole.ts";

/** The branches that a run took, by source: their places among the source's branches, and the digest of the source. */
type Kept = Readonly<
  Record<string, { readonly digest: string; readonly places: readonly number[] }>
>;

const keptFile = join(root, "coverage/taken.json");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { missing: { type: "string" }, add: { type: "boolean", default: false } },
});

const copy = copyProject();
/** The sources without notes, for the tests that read sources. */
const plain = join(copy, "coverage/plain");
cpSync(join(copy, "src"), join(plain, "src"), { recursive: true });
const branches: Branch[] = [];
const digests = new Map<string, string>();
const firsts = new Map<string, number>();
for (const file of filesOf([...reportedFolders, ...wholeSources])) {
  const source = readFileSync(join(root, file), "utf8");
  firsts.set(file, branches.length + 1);
  digests.set(file, createHash("sha256").update(source).digest("hex"));
  const instrumented = instrument(file, source, branches.length + 1);
  writeFileSync(join(copy, file), instrumented.text);
  branches.push(...instrumented.branches);
}

const notes = join(copy, "coverage/notes");
mkdirSync(notes);
const recorder = `--require ${join(copy, "test/coverage/recorder.cjs")}`;
const isPassed =
  runHere("build.mjs", [], {}) &&
  runHere("test.mjs", positionals, {
    NODE_OPTIONS: recorder,
    COVERAGE_NOTES: notes,
    COVERAGE_SOURCES: plain,
  });
const taken = new Set(
  readdirSync(notes).flatMap((name) =>
    readFileSync(join(notes, name), "utf8").split("\n").map(Number),
  ),
);
if (values.add) addKept();
keep();
report();
judge();

function filesOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => filesAt(path, ".ts")))].sort();
}

/** Runs a program of .config/ in the copy. Returns false if it failed. */
function runHere(
  program: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): boolean {
  const env = { ...process.env, ...variables };
  const command = [join(copy, ".config", program), ...words];
  return spawnSync(process.execPath, command, { cwd: copy, stdio: "inherit", env }).status === 0;
}

/** Adds what earlier runs took of the sources that have not changed since. */
function addKept(): void {
  if (!existsSync(keptFile)) return;
  const kept = JSON.parse(readFileSync(keptFile, "utf8")) as Kept;
  for (const [file, { digest, places }] of Object.entries(kept)) {
    if (digests.get(file) !== digest) continue;
    for (const place of places) taken.add(firstOf(file) + place);
  }
}

function keep(): void {
  const kept: Record<string, Kept[string]> = {};
  for (const [file, digest] of digests) {
    const own = branches.filter((branch) => branch.file === file && isTaken(branch));
    kept[file] = { digest, places: own.map(({ number }) => number - firstOf(file)) };
  }
  mkdirSync(dirname(keptFile), { recursive: true });
  writeFileSync(keptFile, JSON.stringify(kept));
}

function firstOf(file: string): number {
  return firsts.get(file) ?? 0;
}

function isTaken({ number }: Branch): boolean {
  return taken.has(number);
}

/** Prints the part that is taken of each folder, and the missing branches that were asked for. */
function report(): void {
  for (const folder of [...new Set(branches.map(({ file }) => dirname(file)))].sort()) {
    print(
      folder,
      branches.filter(({ file }) => dirname(file) === folder),
    );
  }
  const { missing } = values;
  for (const branch of branches) {
    if (missing !== undefined && branch.file.includes(missing) && !isTaken(branch)) {
      console.log(describe(branch));
    }
  }
  print("all", branches);
}

/** Prints what is missing of the sources of which every branch must be taken, and sets the exit code. */
function judge(): void {
  const reached = new Set(branches.filter(isTaken).map(({ file }) => file));
  const required = new Set(filesOf(wholeSources));
  const whole = branches.filter(
    ({ file }) => required.has(file) && (positionals.length === 0 || reached.has(file)),
  );
  const excuses = readExcuses();
  const excused = whole.filter(
    (branch) => !isTaken(branch) && excuses.some((excuse) => isExcuseOf(excuse, branch)),
  );
  const due = whole.filter((branch) => !excused.includes(branch));
  for (const branch of due) if (!isTaken(branch)) fail(describe(branch));
  for (const excuse of excuses) {
    if (positionals.length > 0 && !reached.has(excuse.file)) continue;
    if (excused.some((branch) => isExcuseOf(excuse, branch))) continue;
    const { file, within, text, way } = excuse;
    fail(`excused.yaml: not needed for ${file} in ${JSON.stringify(within)}, ${way}: ${text}`);
  }
  if (!isPassed) fail("Tests failed: branches that only they take are missing.");
  const count = String(excused.length);
  print(`of the sources of which every branch must be taken; ${count} more are excused`, due);
}

function print(name: string, all: readonly Branch[]): void {
  const count = all.filter(isTaken).length;
  const percent = ((100 * count) / Math.max(all.length, 1)).toFixed(1);
  console.log(`${percent.padStart(5)} % (${String(count)} of ${String(all.length)}) ${name}`);
}

function describe({ file, line, within, text, way }: Branch): string {
  return `${file}:${String(line)} in ${JSON.stringify(within)}, never ${way}: ${text}`;
}

function fail(message: string): void {
  process.exitCode = 1;
  console.log(message);
}
