// npm test: the whole suite, a process for each part, so that what one leaves in memory does not slow the next. Closes
// with one plain line. Arguments go to mocha.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
const reporter = fileURLToPath(new URL("reporter.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "till-tests-"));
const counts = join(folder, "counts");
writeFileSync(counts, "");

let ended = 0;
for (const part of parts) {
  const { status } = spawnSync(
    process.execPath,
    [mocha, ...part, "--reporter", reporter, ...process.argv.slice(2)],
    { cwd: root, stdio: "inherit", env: { ...process.env, TILL_TEST_COUNTS: counts } },
  );
  if (status !== 0) ended = 1;
}

const sums = readFileSync(counts, "utf8").trim().split("\n");
rmSync(folder, { recursive: true });
// A part that died before it could count is a failure.
const lost = parts.length - sums.length;
const [passed, failed] = sums
  .map((line) => line.split(" ").map(Number))
  .reduce(([p, f], [passes, failures]) => [p + passes, f + failures], [0, lost]);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : ended;
