// npm run lock:check: verifies that every package in package-lock.json has an integrity hash, so that npm refuses an
// altered tarball. --fill fetches missing hashes from the registry. For tests, another lock file may be named.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const words = process.argv.slice(2);
const isFilling = words.includes("--fill");
const file =
  words.find((word) => !word.startsWith("--")) ??
  fileURLToPath(new URL("../package-lock.json", import.meta.url));
const excusesFile = fileURLToPath(new URL("lock-without-integrity.json", import.meta.url));
const excused = new Set(JSON.parse(readFileSync(excusesFile, "utf8")).packages);

const lock = JSON.parse(readFileSync(file, "utf8"));
const entries = Object.entries(lock.packages).filter(([path, { link }]) => path !== "" && !link);
const missing = entries.filter(([, { integrity }]) => integrity === undefined);

if (isFilling) {
  for (const [path, entry] of missing) fill(path, entry);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

const faults = entries.flatMap(([path, entry]) => {
  const fault = faultOf(nameOf(path), entry);
  return fault === null ? [] : [`${path}: ${fault}`];
});
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log(`${String(entries.length)} packages, each with an integrity hash or an exception`);

function faultOf(name, { integrity, dev, optional, os, cpu }) {
  if (integrity !== undefined) {
    if (!/^sha512-[\w+/]{86}==$/.test(integrity)) return "its integrity is not a SHA-512 hash";
    return excused.has(name) ? `it has a hash: remove it from ${excusesFile}` : null;
  }
  if (!excused.has(name)) {
    return "it has no integrity hash: run node .config/check-lock.mjs --fill with a registry that has it";
  }
  // Exceptions are only for packages that neither servers nor the checks ever install.
  const isForServers = (os ?? ["linux"]).includes("linux") && (cpu ?? ["x64"]).includes("x64");
  return dev && optional && !isForServers
    ? null
    : "only optional tools of other systems are excused";
}

function fill(path, entry) {
  try {
    const asked = `${nameOf(path)}@${entry.version}`;
    const told = execFileSync("npm", ["view", asked, "dist.integrity"], { stdio: "pipe" });
    const integrity = told.toString().trim();
    if (integrity !== "") lock.packages[path] = { version: entry.version, integrity, ...entry };
  } catch {
    console.error(`${path}: the registry does not have it`);
  }
}

function nameOf(path) {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}
