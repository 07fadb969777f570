// npm test: the whole suite, a process for each part, so that what one leaves in memory does not slow the next; two at
// once where there are two cores, since each waits a good part of its time. What a part says is printed when it has
// ended. Closes with one plain line. Arguments go to mocha.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const foldersOf = (path) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${path}/${entry.name}`)
    .sort();
/** Features that share a process. */
const together = 4;
const features = foldersOf("test/features");
const parts = [
  ...foldersOf("test")
    .filter((folder) => folder !== "test/features")
    .map((folder) => [folder]),
  ...features.flatMap((_folder, place) =>
    place % together === 0 ? [features.slice(place, place + together)] : [],
  ),
]
  .map((folders) => folders.filter(hasTests).map((folder) => `${folder}/**/*.test.ts`))
  .filter((patterns) => patterns.length > 0);

function hasTests(folder) {
  return readdirSync(join(root, folder), { recursive: true }).some((file) =>
    file.endsWith(".test.ts"),
  );
}

const require = createRequire(import.meta.url);
const mocha = require.resolve("mocha/bin/mocha.js");
const tsx = pathToFileURL(require.resolve("tsx/esm")).href;
const reporter = fileURLToPath(new URL("reporter.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "till-tests-"));
const counts = join(folder, "counts");
writeFileSync(counts, "");
const problems = join(folder, "problems");
writeFileSync(problems, "");
const failures = join(folder, "failures");
writeFileSync(failures, "");

const lanesMax = 2;
let ended = 0;
/** Whole programs in processes of their own: longer than they are long. */
const slow = ["test/scenarios", "test/prove"];
/** The longest first, so that none begins when the others have ended; how long is guessed by how much there is to read. */
const bytesOf = (part) =>
  part
    .map((pattern) => pattern.slice(0, pattern.indexOf("/**")))
    .flatMap((path) =>
      readdirSync(join(root, path), { recursive: true }).map((file) => join(root, path, file)),
    )
    .reduce((sum, file) => sum + (file.endsWith(".test.ts") ? statSync(file).size : 0), 0);
const isSlow = (part) => slow.some((folder) => part.includes(`${folder}/**/*.test.ts`));
const waiting = parts
  .toSorted((a, b) => Number(isSlow(b)) - Number(isSlow(a)) || bytesOf(b) - bytesOf(a))
  .map((part, place) => ({ part, said: join(folder, `part-${place}`) }));

async function runNext() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { part, said } = next;
    const output = openSync(said, "w");
    const child = spawn(
      process.execPath,
      [mocha, ...part, "--reporter", reporter, ...process.argv.slice(2)],
      {
        cwd: root,
        stdio: ["ignore", output, output],
        env: {
          ...process.env,
          TILL_TEST_COUNTS: counts,
          TILL_TEST_FAILURES: failures,
          TILL_TEST_PROBLEMS: problems,
        },
      },
    );
    const [status, signal] = await once(child, "close");
    process.stdout.write(readFileSync(said));
    if (status !== 0) {
      ended = 1;
      appendFileSync(failures, `${part.join(" ")}: ended with ${signal ?? status}\n\n`);
    }
  }
}

const lanes = Math.min(lanesMax, availableParallelism());
await Promise.all(Array.from({ length: lanes }, runNext));

// A part of the suite provokes a part of the problems.
const isWhole = process.argv.length === 2;
if (isWhole) {
  const script = join(root, "test/api/provoked.ts");
  const { status } = spawnSync(process.execPath, ["--import", tsx, script, problems], {
    cwd: root,
    stdio: "inherit",
  });
  appendFileSync(counts, status === 0 ? "1 0\n" : "0 1\n");
}

const sums = readFileSync(counts, "utf8").trim().split("\n");
// Once more at the end, where whoever reads the last lines of a long log finds them.
process.stdout.write(readFileSync(failures));
rmSync(folder, { recursive: true });
// A part that died before it could count is a failure.
const lost = parts.length + (isWhole ? 1 : 0) - sums.length;
const [passed, failed] = sums
  .map((line) => line.split(" ").map(Number))
  .reduce(([p, f], [passes, failures]) => [p + passes, f + failures], [0, lost]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : ended;
