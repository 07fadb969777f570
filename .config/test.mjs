// npm test: builds the program and runs the whole suite in parts of equal length, each in a separate process, so that
// memory use of one does not slow the next. A part's output is printed when it has ended. The last line is the plain
// result. Arguments are test files or folders, or else options of mocha. With --times, a complete run that passed saves
// its times.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, constants, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileTests } from "./test-compile.mjs";
import { divide, readTimes, writeTimes } from "./test-parts.mjs";

/** One more than the number of cores, because each part waits a third of its time. */
const lanes = Math.min(availableParallelism() + 1, 4);

/**
 * A commit to a disk takes some milliseconds. No test cuts the power, so files in memory are durable enough: they
 * survive any kill.
 */
const memory = "/dev/shm";
const roomBytes = 8 * 1_024 ** 3;

const root = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(import.meta.url);
/** Started directly, without the intermediate process of mocha's own launcher. */
const mocha = require.resolve("mocha/lib/cli/cli.js");
const reporter = fileURLToPath(new URL("reporter.cjs", import.meta.url));

const keepsTimes = process.argv.includes("--times");
const words = process.argv.slice(2).filter((word) => word !== "--times");
const paths = words.filter((word) => !word.startsWith("-") && existsSync(join(root, word)));
const options = words.filter((word) => !paths.includes(word));
const missing = options.filter((word) => word.startsWith("test/") || word.endsWith(".test.ts"));
if (missing.length > 0) {
  console.error(`No such test file or folder: ${missing.join(", ")}`);
  console.log("0 passed, 1 failed");
  process.exit(1);
}
/** A partial run provokes only some of the problems and takes only part of the time. */
const isWhole = words.length === 0;

runFirst("build.mjs", "--if-stale");

// All files of the tests are in this folder. PostgreSQL, which does not run as root, has its data in it too.
const folder = mkdtempSync(join(hasRoomInMemory() ? memory : tmpdir(), "till-tests-"));
chmodSync(folder, 0o711);
process.env.TMPDIR = folder;
const notes = Object.fromEntries(
  ["counts", "failures", "problems", "times"].map((name) => [name, join(folder, name)]),
);
for (const file of Object.values(notes)) writeFileSync(file, "");
const compiled = join(folder, "compiled");
compileTests(compiled);
const { whenThisProcessIsGone } = await import(join(compiled, "test/support/programs/guard.mjs"));
const { postgresUnavailableReason, startPostgres } = await import(
  join(compiled, "test/support/store/postgres.mjs")
);
const folderGuard = whenThisProcessIsGone('sleep 1; rm -rf "$1"', folder);

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    // Processes that the parts have started end with them.
    for (const part of running) process.kill(-part.pid, "SIGKILL");
    console.error(`The tests were ended by ${signal}.`);
    process.exit(128 + constants.signals[signal]);
  });
}

const parts = divide((paths.length === 0 ? ["test"] : paths).flatMap(testsOf), readTimes(), lanes);
const ownsPostgres =
  parts.length > 1 &&
  process.env.TEST_DATABASE_URL === undefined &&
  postgresUnavailableReason() === null;
const postgres = ownsPostgres ? await startPostgres() : null;
const programs = join(folder, "programs");
if (parts.length > 1) runFirst("test-programs.mjs", programs);
const environment = {
  ...process.env,
  TILL_TEST_COMPILED: compiled,
  TILL_TEST_COUNTS: notes.counts,
  TILL_TEST_FAILURES: notes.failures,
  TILL_TEST_PROBLEMS: notes.problems,
  TILL_TEST_TIMES: notes.times,
  ...(parts.length > 1 ? { TILL_TEST_PROGRAMS: programs } : {}),
  ...(postgres === null ? {} : { TILL_TEST_POSTGRES: postgres.url("postgres") }),
};

let ended = 0;
const waiting = [...parts.entries()];
await Promise.all(Array.from({ length: lanes }, runNext));
await postgres?.stop();

if (isWhole) {
  const isProvoked = runHere(join(compiled, "test/api/provoked.mjs"), notes.problems);
  appendFileSync(notes.counts, isProvoked ? "1 0\n" : "0 1\n");
}

const sums = readFileSync(notes.counts, "utf8").trim().split("\n");
// Printed again at the end, where readers of a long log find them.
process.stdout.write(readFileSync(notes.failures));
// A part that died before it could count is a failure.
const lost = parts.length + (isWhole ? 1 : 0) - sums.length;
const [passed, failed] = sums
  .map((line) => line.split(" ").map(Number))
  .reduce(([p, f], [passes, failures]) => [p + passes, f + failures], [0, lost]);
if (keepsTimes && isWhole && failed === 0 && ended === 0) writeTimes(measuredTimes());
rmSync(folder, { recursive: true, force: true });
folderGuard.dismiss();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : ended;

/** Runs a program to its end. Returns false if it failed. */
function runHere(...command) {
  return spawnSync(process.execPath, command, { cwd: root, stdio: "inherit" }).status === 0;
}

/** Runs a program of .config/ without which no test can run. */
function runFirst(program, ...words) {
  if (runHere(join(root, ".config", program), ...words)) return;
  console.log("0 passed, 1 failed");
  process.exit(1);
}

/** True if memory has room for the files of a run. */
function hasRoomInMemory() {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, freemem()) >= roomBytes;
}

/** Returns the test files at a path from the root. */
function testsOf(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join(path, file));
}

async function runNext() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [place, { files }] = next;
    const said = join(folder, `part-${place}`);
    const output = openSync(said, "w");
    const compiledFiles = files.map((file) => join(compiled, file.replace(/\.ts$/, ".mjs")));
    const argv = [mocha, ...compiledFiles, "--reporter", reporter, ...options];
    const child = spawn(process.execPath, ["--enable-source-maps", ...argv], {
      cwd: root,
      stdio: ["ignore", output, output],
      env: environment,
      // A separate process group, which is ended as a whole.
      detached: true,
    });
    running.add(child);
    const guard = whenThisProcessIsGone('kill -s KILL -- "-$1"', String(child.pid));
    const [status, signal] = await once(child, "close");
    guard.dismiss();
    running.delete(child);
    process.stdout.write(readFileSync(said));
    if (status !== 0) {
      ended = 1;
      appendFileSync(notes.failures, `${files.join(" ")}: ended with ${signal ?? status}\n\n`);
    }
  }
}

/** Returns the seconds of each file, from the lines that the reporters wrote. */
function measuredTimes() {
  const seconds = {};
  for (const line of readFileSync(notes.times, "utf8").trim().split("\n")) {
    const [milliseconds, file] = line.split("\t");
    seconds[file] = (seconds[file] ?? 0) + Number(milliseconds) / 1_000;
  }
  return seconds;
}
