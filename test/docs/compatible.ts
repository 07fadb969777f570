// npm run compatible: compares docs/openapi.json with the contract of the last release, and fails if a change that breaks
// clients is not called out in CHANGELOG.md. With --keep it keeps the contract of this version: part of a release.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  breakingChanges,
  contractOf,
  notCalledOut,
  type Contract,
} from "./compatible/breaking-changes.ts";

const root = new URL("../../", import.meta.url);
const releases = new URL("docs/releases/", root);
const read = (path: string | URL) => readFileSync(new URL(path, root), "utf8");
const document = JSON.parse(read("docs/openapi.json")) as Contract;

if (process.argv.includes("--keep")) {
  const { version } = JSON.parse(read("package.json")) as { readonly version: string };
  const folder = new URL(`${version}/`, releases);
  // Only the last release is compared; a tag has each earlier one.
  rmSync(releases, { recursive: true });
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(contractOf(document), null, 1);
  writeFileSync(new URL("openapi.json", folder), `${text}\n`);
} else {
  const [last] = readdirSync(releases);
  if (last === undefined) throw new Error("docs/releases has no release");
  const released = JSON.parse(read(new URL(`${last}/openapi.json`, releases))) as Contract;
  const breaks = breakingChanges(released, document);
  const missing = notCalledOut(breaks, read("CHANGELOG.md"), last);
  for (const { place, says } of missing) console.error(`\`${place}\` ${says}`);
  if (missing.length > 0) {
    console.error(
      `These changes break clients of ${last}. Undo them, or name each one with its backquotes in CHANGELOG.md, in the list "Changes that break clients" of this version: see docs/guides/versions.md`,
    );
    process.exitCode = 1;
  }
}
