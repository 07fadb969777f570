// npm run prove:image: carries out the steps of the Dockerfile's build stage twice from the committed files, without a
// container engine, and compares the two results byte by byte. Prints the size of the program as the image has it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The folder of the program that the build stage leaves for the image, and not a part of a longer path. */
const result = /(?<![\w.])\/release\b(?!\.)/g;
const resultName = "release";

/**
 * Code that V8 keeps, whose bytes depend on the random seed of its hash tables; with a seed of the build's choice no
 * other process would accept it. The program works without it, and a release has none.
 */
const madeByV8 = /^dist\/light-[^/]+\.code$/;

interface Step {
  readonly kind: "COPY" | "RUN";
  readonly words: string;
}

/** Returns the steps of the first stage that change files. */
function buildSteps(): readonly Step[] {
  const joined = readFileSync(join(root, "Dockerfile"), "utf8").replace(/\\\n/g, "");
  const [, stage = ""] = joined.split(/^FROM .*$/m);
  return [...stage.matchAll(/^(COPY|RUN) (.*)$/gm)].map(([, kind, words = ""]) => ({
    kind: kind as Step["kind"],
    words,
  }));
}

/** Carries out the steps in `folder`, and moves what they leave for the image to `kept`. */
function build(committed: string, folder: string, kept: string): void {
  const release = join(folder, resultName);
  const work = join(folder, "till");
  mkdirSync(work, { recursive: true });
  for (const { kind, words } of buildSteps()) {
    if (kind === "RUN") {
      execFileSync("/bin/sh", ["-c", words.replaceAll(result, release)], {
        cwd: work,
        stdio: ["ignore", "ignore", "inherit"],
      });
      continue;
    }
    const [target = ".", ...sources] = words.split(" ").reverse();
    for (const source of sources) {
      const isInto = target.endsWith("./");
      cpSync(
        join(committed, source),
        join(work, isInto && !isFolder(committed, source) ? source : target),
        {
          recursive: true,
        },
      );
    }
  }
  renameSync(release, kept);
  rmSync(folder, { recursive: true });
}

function isFolder(parent: string, name: string): boolean {
  return lstatSync(join(parent, name)).isDirectory();
}

/** Returns what each file below a folder contains and may be used for, by its path, and the size of all files. */
function contentsOf(folder: string) {
  const files = new Map<string, string>();
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(folder, name);
    const about = lstatSync(path);
    if (about.isDirectory()) continue;
    const content = about.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
    const digest = createHash("sha256").update(content).digest("hex");
    files.set(name, `${about.mode.toString(8)} ${digest}`);
    bytes += about.size;
  }
  return { files, bytes };
}

const folder = mkdtempSync(join(tmpdir(), "till-image-"));
try {
  const committed = join(folder, "committed");
  mkdirSync(committed);
  const archive = execFileSync("git", ["archive", "HEAD"], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x"], { cwd: committed, input: archive });
  const kept = ["first", "second"].map((name) => join(folder, name));
  // Both at the same path, as in an image.
  for (const each of kept) build(committed, join(folder, "build"), each);
  const [first, second] = kept.map(contentsOf);
  const names = new Set([...(first?.files.keys() ?? []), ...(second?.files.keys() ?? [])]);
  const differing = [...names].filter((name) => first?.files.get(name) !== second?.files.get(name));
  console.log(
    `Node ${process.version}: ${String(names.size)} files, ${((first?.bytes ?? 0) / 2 ** 20).toFixed(1)} MiB, ${String(differing.length)} differ`,
  );
  for (const name of differing) {
    const isInBoth = [first, second].every((one) => one?.files.has(name) === true);
    const isExpected = isInBoth && madeByV8.test(name);
    console.log(`  ${name}${isExpected ? ": V8 makes it differently each time" : ""}`);
    if (!isExpected) process.exitCode = 1;
  }
  if (names.size === 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
