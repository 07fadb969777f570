// npm run release: checks that the version can be released, and writes its files to release/VERSION without publishing
// anything: the package, the client, the list of all parts (CycloneDX), their licenses, the notes and SHA256SUMS. The
// same commit gives the same bytes. --stage FOLDER only writes the package's folder from dist/, for the Dockerfile.
// --output FOLDER replaces release/VERSION. --without-checks is for tests: it skips `npm run check`, and builds only if
// src/ has changed since dist/ was built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { licenseFaults, partsList, toJson, writeClient, writePackage } from "./release-package.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path) => readFileSync(join(root, path), "utf8");
const { values: flags } = parseArgs({
  options: {
    stage: { type: "string" },
    output: { type: "string" },
    "without-checks": { type: "boolean", default: false },
  },
});

if (flags.stage !== undefined) writePackage(root, resolve(flags.stage));
else release();

function release() {
  const { version } = JSON.parse(read("package.json"));
  const faults = faultsOf(version);
  if (faults.length > 0) {
    for (const fault of faults) console.error(fault);
    console.error(`${version} cannot be released.`);
    process.exitCode = 1;
    return;
  }
  const isChecked = !flags["without-checks"];
  if (isChecked) run("npm", "run", "check");
  run(process.execPath, ".config/build.mjs", ...(isChecked ? [] : ["--if-stale"]));

  const output = resolve(root, flags.output ?? join("release", version));
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "till-release-"));
  try {
    const folders = { till: join(work, "till"), client: join(work, "client") };
    writePackage(root, folders.till);
    writeClient(root, folders.client);
    for (const folder of Object.values(folders)) {
      run("npm", "pack", folder, "--ignore-scripts", "--silent", "--pack-destination", output);
    }
    cpSync(join(folders.till, "LICENSES.txt"), join(output, "LICENSES.txt"));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const lock = JSON.parse(read("package-lock.json"));
  const time = new Date(capture("git", "log", "-1", "--format=%cI").trim()).toISOString();
  writeFileSync(join(output, "sbom.cdx.json"), toJson(partsList(lock, { version, time })));
  writeFileSync(join(output, "NOTES.md"), `${notesOf(version)}\n`);
  writeSums(output);
  report(output);
}

/** Returns everything that speaks against releasing a version. */
function faultsOf(version) {
  const faults = [];
  const expect = (isRight, message) => isRight || faults.push(message);
  expect(/^\d+\.\d+\.\d+$/.test(version), `The version ${version} is not of the form 1.2.3.`);
  const newest = /^## (.+)$/m.exec(read("CHANGELOG.md"))?.[1] ?? "none";
  expect(
    newest === version,
    `The newest heading of CHANGELOG.md is "${newest}", and package.json has ${version}.`,
  );
  const lock = JSON.parse(read("package-lock.json"));
  expect(
    lock.version === version && lock.packages[""].version === version,
    `package-lock.json has the version ${lock.version}: run npm version ${version} --no-git-tag-version.`,
  );
  const { info } = JSON.parse(read("docs/openapi.json"));
  expect(info.version === version, `docs/openapi.json is of ${info.version}: run npm run docs.`);
  const kept = join("docs/releases", version, "openapi.json");
  expect(
    existsSync(join(root, kept)),
    `${kept} is missing: run npm run compatible -- --keep and commit it.`,
  );
  faults.push(...licenseFaults(lock));
  const changes = capture("git", "status", "--porcelain").trim();
  expect(changes === "", `The working tree has changes:\n${changes}`);
  return faults;
}

function notesOf(version) {
  // Up to the next heading of a version.
  const [, notes = ""] = read("CHANGELOG.md").split(/^## .+$/m);
  return `# Till ${version}\n\n${notes.trim()}`;
}

/** Writes SHA256SUMS, which `sha256sum --check` reads. */
function writeSums(output) {
  const lines = readdirSync(output)
    .sort()
    .map((name) => `${digestOf(join(output, name))}  ${name}\n`);
  writeFileSync(join(output, "SHA256SUMS"), lines.join(""));
}

function digestOf(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function report(output) {
  for (const name of readdirSync(output).sort()) {
    const kilobytes = Math.ceil(statSync(join(output, name)).size / 1_024);
    console.log(`${String(kilobytes).padStart(8)} KiB  ${join(output, name)}`);
  }
}

/** Runs a program to its end, and ends this one if it fails. */
function run(command, ...words) {
  const { status } = spawnSync(command, words, {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) fail(command, words);
}

function capture(command, ...words) {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 };
  const { status, stdout, stderr } = spawnSync(command, words, options);
  if (status !== 0) {
    console.error(stderr);
    fail(command, words);
  }
  return stdout;
}

function fail(command, words) {
  console.error(`${command} ${words.join(" ")} failed: nothing is released.`);
  process.exit(1);
}
