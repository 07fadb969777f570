// npm test: builds the program and runs the whole suite in a few processes at a time, each of which takes the next file
// when it has ended one. A file's output is printed when it has ended. The last line is the plain result. Arguments are
// test files or folders, or else options of mocha. With --times, a complete run that passed saves its times.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, constants, freemem, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileTests } from "./test-compile.mjs";
import { longestFirst, writeTimes } from "./test-order.mjs";

/** More than there are cores, because each process waits for nearly half of its time. */
const lanesMax = Math.min(2 * availableParallelism(), 4);
/** The age at which a process is replaced by a new one, so that the memory use of many files does not slow the next. */
const laneSecondsMax = 300;

/**
 * A commit to a disk takes some milliseconds. No test cuts the power, so files in memory are durable enough: they
 * survive any kill.
 */
const memory = "/dev/shm";
const roomBytes = 8 * 1_024 ** 3;

const root = fileURLToPath(new URL("..", import.meta.url));
const lane = fileURLToPath(new URL("test-lane.mjs", import.meta.url));
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
/** Of the run whose test has started this one, or else its own. */
const compiled = process.env.TILL_TEST_COMPILED ?? join(folder, "compiled");
if (!existsSync(compiled)) compileTests(compiled);
const { whenThisProcessIsGone } = await import(join(compiled, "test/support/programs/guard.mjs"));
const { postgresUnavailableReason, startPostgres } = await import(
  join(compiled, "test/support/store/postgres.mjs")
);
const folderGuard = whenThisProcessIsGone('sleep 1; rm -rf "$1"', folder);

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, () => {
    // Processes that the tests have started end with them.
    for (const { pid } of running) process.kill(-pid, "SIGKILL");
    console.error(`The tests were ended by ${signal}.`);
    process.exit(128 + constants.signals[signal]);
  });
}

const files = longestFirst((paths.length === 0 ? ["test"] : paths).flatMap(testsOf));
const lanes = Math.min(lanesMax, files.length);
const ownsPostgres =
  lanes > 1 && process.env.TEST_DATABASE_URL === undefined && postgresUnavailableReason() === null;
const postgres = ownsPostgres ? await startPostgres() : null;
const programs = join(folder, "programs");
if (lanes > 1) runFirst("test-programs.mjs", programs);
const environment = {
  ...process.env,
  TILL_TEST_COMPILED: compiled,
  TILL_TEST_COUNTS: notes.counts,
  TILL_TEST_FAILURES: notes.failures,
  TILL_TEST_PROBLEMS: notes.problems,
  TILL_TEST_TIMES: notes.times,
  ...(lanes > 1 ? { TILL_TEST_PROGRAMS: programs } : {}),
  ...(postgres === null ? {} : { TILL_TEST_POSTGRES: postgres.url("postgres") }),
};

let ended = 0;
const waiting = [...files];
await Promise.all(Array.from({ length: lanes }, (_, place) => runLane(place)));
await postgres?.stop();

if (isWhole) {
  const isProvoked = runHere(join(compiled, "test/api/provoked.mjs"), notes.problems);
  appendFileSync(notes.counts, isProvoked ? "1 0\n" : "0 1\n");
}

const sums = readFileSync(notes.counts, "utf8").trim().split("\n");
// Printed again at the end, where readers of a long log find them.
process.stdout.write(readFileSync(notes.failures));
// A file whose process died before it could count is a failure.
const lost = files.length + (isWhole ? 1 : 0) - sums.length;
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

/** Runs files until none is waiting, in one process at a time. */
async function runLane(place) {
  for (let count = 0; waiting.length > 0; count += 1) {
    await runInProcess(join(folder, `output-${place}-${count}`));
  }
}

/** Runs files in one process until none is waiting or it is too old. */
async function runInProcess(said) {
  const output = openSync(said, "w+");
  const argv = ["--enable-source-maps", lane, "--reporter", reporter, ...options];
  const child = spawn(process.execPath, argv, {
    cwd: root,
    stdio: ["ignore", output, output, "ipc"],
    env: environment,
    // A separate process group, which is ended as a whole.
    detached: true,
  });
  running.add(child);
  const guard = whenThisProcessIsGone('kill -s KILL -- "-$1"', String(child.pid));
  const startedAt = performance.now();
  /** @type {string | undefined} */
  let file;
  let printed = 0;
  function print() {
    const { size } = fstatSync(output);
    const text = Buffer.alloc(size - printed);
    printed += readSync(output, text, 0, text.length, printed);
    process.stdout.write(text);
  }
  function next() {
    const isOld = performance.now() - startedAt > laneSecondsMax * 1_000;
    file = isOld ? undefined : waiting.shift();
    if (file === undefined) child.disconnect();
    else child.send(join(compiled, file.replace(/\.ts$/, ".mjs")));
  }
  child.on("message", () => {
    print();
    next();
  });
  next();
  const [status, signal] = await once(child, "exit");
  guard.dismiss();
  running.delete(child);
  print();
  closeSync(output);
  if (status === 0 && file === undefined) return;
  ended = 1;
  const during = file === undefined ? "after its last file" : `in ${file}`;
  appendFileSync(notes.failures, `A process ended ${during} with ${String(signal ?? status)}\n\n`);
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
