// Carries out the steps of the Dockerfile's build stage twice, without a container engine, and compares the two results
// byte by byte.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { Table } from "./table.ts";

/** The folder of the program that the build stage leaves for the image, and not a part of a longer path. */
const result = /(?<![\w.])\/release\b(?!\.)/g;
const resultName = "release";

interface Step {
  readonly kind: "COPY" | "RUN";
  readonly words: string;
}

/** Returns the steps of the first stage of a Dockerfile that change files. */
function buildSteps(dockerfile: string): readonly Step[] {
  const joined = readFileSync(dockerfile, "utf8").replace(/\\\n/g, "");
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
  for (const { kind, words } of buildSteps(join(committed, "Dockerfile"))) {
    if (kind === "RUN") {
      execFileSync("/bin/sh", ["-c", words.replaceAll(result, release)], {
        cwd: work,
        // A failure has the words of the command, which `npm run --silent` would silence.
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...process.env, npm_config_loglevel: "error" },
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

/** Builds the program twice from the files of a checkout. */
export function proveSameBytes(table: Table, checkout: string, folder: string): void {
  const kept = ["first", "second"].map((name) => join(folder, name));
  // Both at the same path, as in an image.
  for (const each of kept) build(checkout, join(folder, "build"), each);
  const [first, second] = kept.map(contentsOf);
  for (const each of kept) rmSync(each, { recursive: true });
  const names = new Set([...(first?.files.keys() ?? []), ...(second?.files.keys() ?? [])]);
  const differing = [...names].filter((name) => first?.files.get(name) !== second?.files.get(name));
  const size = `${String(names.size)} files, ${((first?.bytes ?? 0) / 2 ** 20).toFixed(1)} MiB`;
  const isSame = names.size > 0 && differing.length === 0;
  const seen = isSame ? `${size} (Node ${process.version})` : differing;
  table.line("bytes", "the build's steps give the same bytes twice", isSame, seen);
}
