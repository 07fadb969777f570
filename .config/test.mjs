// npm test: builds the program and runs the whole suite in a few processes at a time, each of which takes the next file
// when it has ended one. A file's output is printed when it has ended. The last line is the plain result. Arguments are
// test files or folders, or else options of mocha. With --times, a complete run that passed saves its times.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileTests } from "./test-compile.mjs";
import { longestFirst, writeTimes } from "./test-order.mjs";

/**
 * A commit to a disk takes some milliseconds. No test cuts the power, so files in memory are durable enough: they
 * survive any kill.
 */
const memory = "/dev/shm";
const roomBytes = 8 * 1_024 ** 3;

const root = fileURLToPath(new URL("..", import.meta.url));
const mocha = join(root, "node_modules/mocha/bin/mocha.js");

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
  ["counts", "left", "problems", "times"].map((name) => [name, join(folder, name)]),
);
for (const file of Object.values(notes)) writeFileSync(file, "");
/** Of the run whose test has started this one, or else its own. */
const compiled = process.env.TILL_TEST_COMPILED ?? join(folder, "compiled");
if (!existsSync(compiled)) compileTests(compiled);
const { whenThisProcessIsGone } = await import(join(compiled, "test/support/programs/guard.mjs"));
const { postgresUnavailableReason, startPostgres } = await import(
  join(compiled, "test/support/store/postgres.mjs")
);
const folderGuard = whenThisProcessIsGone('sleep 1; rm -rf "$1"', folder);

let child = null;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    // Processes that the tests have started end with them.
    if (child !== null) process.kill(-child.pid, "SIGKILL");
    console.error(`The tests were ended by ${signal}.`);
    process.exit(128 + constants.signals[signal]);
  });
}

const files = longestFirst((paths.length === 0 ? ["test"] : paths).flatMap(testsOf));
const isMany = files.length > 1;
const { TEST_DATABASE_URL: givenPostgres, TILL_TEST_POSTGRES: outerPostgres } = process.env;
const ownsPostgres =
  isMany && !givenPostgres && !outerPostgres && postgresUnavailableReason() === null;
const postgres = ownsPostgres ? await startPostgres() : null;
const outerPrograms = process.env.TILL_TEST_PROGRAMS;
const programs = outerPrograms ?? join(folder, "programs");
if (isMany && outerPrograms === undefined) runFirst("test-programs.mjs", programs);

child = spawn(
  process.execPath,
  [
    "--enable-source-maps",
    // Objects of a test live until its end: with the default size, V8 spends a tenth of the processor time on copying them.
    "--max-semi-space-size=64",
    mocha,
    "--config",
    join(root, ".config/mocha.mjs"),
    ...options,
    ...files.map((file) => join(compiled, file.replace(/\.ts$/, ".mjs"))),
  ],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      TILL_TEST_COMPILED: compiled,
      TILL_TEST_COUNTS: notes.counts,
      TILL_TEST_LEFT: notes.left,
      TILL_TEST_PROBLEMS: notes.problems,
      TILL_TEST_TIMES: notes.times,
      ...(isMany ? { TILL_TEST_PROGRAMS: programs } : {}),
      ...(postgres === null ? {} : { TILL_TEST_POSTGRES: postgres.url("postgres") }),
    },
    // A process group of its own, which is ended as a whole.
    detached: true,
  },
);
const childGuard = whenThisProcessIsGone('kill -s KILL -- "-$1"', String(child.pid));
const [status] = await once(child, "exit");
childGuard.dismiss();
await postgres?.stop();

const counts = readFileSync(notes.counts, "utf8");
let [passed = 0, failed = 0] = counts.split(" ").map(Number);
if (isWhole) {
  if (runHere(join(compiled, "test/http/provoked.mjs"), notes.problems)) passed += 1;
  else failed += 1;
}
for (const words of readFileSync(notes.left, "utf8").trim().split("\n").filter(Boolean)) {
  console.error(`A process of the tests has left something open: ${words}`);
  failed += 1;
}
// By a signal, or because a process of it ended while it had no file: mocha then waits for nothing, and exits with 0.
if (counts === "") console.error("mocha ended without a result.");
if (failed === 0 && (counts === "" || status !== 0)) failed = 1;
if (keepsTimes && isWhole && failed === 0) writeTimes(measuredTimes());
rmSync(folder, { recursive: true, force: true });
folderGuard.dismiss();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

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

/** Returns the seconds of each file, from the lines that the reporters wrote. */
function measuredTimes() {
  const seconds = {};
  for (const line of readFileSync(notes.times, "utf8").trim().split("\n")) {
    const [milliseconds, file] = line.split("\t");
    seconds[file] = (seconds[file] ?? 0) + Number(milliseconds) / 1_000;
  }
  return seconds;
}
