// The contents of a release: the package that operators install, the parts that it contains, and their licenses.
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { unbundled } from "./bundle.mjs";

/** Licenses under which parts may be distributed with the program. Any other one needs a decision. */
const acceptedLicenses = new Set(
  ["0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause"].concat([
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unlicense",
    "WTFPL",
  ]),
);
const textOfLicense = /^(?:licen[cs]e|copying|notice)/i;

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
export const toJson = (value) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Writes the installable package to a new folder. `dist/` contains all packages that are bundled, so that its own
 * package.json needs only the others, and its npm-shrinkwrap.json fixes their versions.
 */
export function writePackage(root, folder) {
  for (const name of ["bin", "config", "dist", "docs"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isReleased });
  }
  for (const name of ["README.md", "CHANGELOG.md"]) cpSync(join(root, name), join(folder, name));
  const own = readJson(join(root, "package.json"));
  const lock = readJson(join(root, "package-lock.json"));
  const isNeeded = ([name]) => unbundled.includes(name);
  const needed = (names = {}) => Object.fromEntries(Object.entries(names).filter(isNeeded));
  const { name, version, description, license, type, engines, bin, exports } = own;
  const parts = {
    dependencies: needed(own.dependencies),
    optionalDependencies: needed(own.optionalDependencies),
  };
  const all = { ...parts.dependencies, ...parts.optionalDependencies };
  const allowed = Object.entries(own.allowScripts).filter(([part]) => part in all);
  const manifest = {
    name,
    version,
    description,
    license,
    private: true,
    type,
    engines,
    bin,
    exports,
    allowScripts: Object.fromEntries(allowed),
    ...parts,
  };
  writeFileSync(join(folder, "package.json"), toJson(manifest));
  const entry = { name, version, license, ...parts, bin, engines };
  const shrinkwrap = {
    name,
    version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: { "": entry, ...reachable(lock, parts) },
  };
  writeFileSync(join(folder, "npm-shrinkwrap.json"), toJson(shrinkwrap));
  writeFileSync(join(folder, "LICENSES.txt"), licensesOf(root, lock));
  restrictModes(folder, join(folder, "bin"));
}

/** Leaves out the digest of the sources, by which `npm test` decides whether to build. */
function isReleased(path) {
  return !path.endsWith("/dist/.sources");
}

/** Returns the entries of a lock file that the packages need, with their paths, in the order of the lock file. */
function reachable(lock, { dependencies, optionalDependencies }) {
  const found = new Set();
  const waiting = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) =>
    resolve(lock, "", name),
  );
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (path === null || found.has(path)) continue;
    found.add(path);
    const { dependencies, optionalDependencies } = lock.packages[path];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      waiting.push(resolve(lock, path, name));
    }
  }
  return Object.fromEntries(Object.entries(lock.packages).filter(([path]) => found.has(path)));
}

/** Returns the path in the lock file from which a package would load another one; null if it is not installed. */
function resolve(lock, from, name) {
  for (let folder = from; ; folder = parentOf(folder)) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (folder === "") return null;
  }
}

function parentOf(path) {
  return path.slice(0, Math.max(0, path.lastIndexOf("node_modules/") - 1));
}

/** Returns the packages of production in a lock file, as `[path, entry]`, sorted by path. */
export function productionParts(lock) {
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== "" && !dev)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Returns a complaint for each part whose license is missing or not accepted. */
export function licenseFaults(lock) {
  return productionParts(lock).flatMap(([path, { license }]) => {
    // Of several, the recipient may choose one.
    const choices = (license ?? "none").replace(/[()]/g, "").split(" OR ");
    return choices.some((choice) => acceptedLicenses.has(choice))
      ? []
      : [
          `${path}: the license ${choices.join(" or ")} is not accepted in .config/release-package.mjs`,
        ];
  });
}

/**
 * Returns the licenses of all parts: the table, and the texts, which the licenses themselves require to be distributed.
 * The binaries for each system are listed without a text, because only one of them is installed here.
 */
function licensesOf(root, lock) {
  const table = [];
  const texts = new Map();
  for (const [path, { version, license, os, cpu }] of productionParts(lock)) {
    const part = `${nameOf(path)} ${version}`;
    table.push(`${part}: ${license}`);
    if (os !== undefined || cpu !== undefined) continue;
    const folder = join(root, path);
    if (!existsSync(folder)) throw new Error(`${path} is not installed: run npm ci`);
    for (const name of readdirSync(folder)
      .filter((each) => textOfLicense.test(each))
      .sort()) {
      if (!statSync(join(folder, name)).isFile()) continue;
      const text = readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim();
      texts.set(text, [...(texts.get(text) ?? []), part]);
    }
  }
  const rule = "=".repeat(80);
  return [
    "Till contains or installs these packages. Their licenses follow the list.\n",
    ...[...new Set(table)],
    ...[...texts].map(
      ([text, parts]) => `\n${rule}\n${[...new Set(parts)].join(", ")}\n${rule}\n\n${text}`,
    ),
    "",
  ].join("\n");
}

/**
 * Returns the list of all parts of production in the format CycloneDX, equal for equal sources. `npm sbom --omit dev`
 * leaves out the parts that a tool of the build needs too, such as commander and zod.
 */
export function partsList(lock, { version, time }) {
  const refOf = (path) => `${nameOf(path)}@${lock.packages[path].version}`;
  const needs = (path, { dependencies, optionalDependencies }) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .flatMap((name) => resolve(lock, path, name) ?? [])
      .map(refOf)
      .sort();
  const component = { "bom-ref": "till", type: "application", name: "till", version };
  const components = new Map();
  const dependencies = new Map([["till", needs("", lock.packages[""])]]);
  for (const [path, entry] of productionParts(lock)) {
    components.set(refOf(path), componentOf(nameOf(path), refOf(path), entry));
    // Installed twice, it may find different versions of what it needs.
    const more = [...(dependencies.get(refOf(path)) ?? []), ...needs(path, entry)];
    dependencies.set(refOf(path), [...new Set(more)].sort());
  }
  const list = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: "",
    version: 1,
    metadata: { timestamp: time, component },
    components: [...components.values()],
    dependencies: [...dependencies].map(([ref, dependsOn]) => ({ ref, dependsOn })),
  };
  return { ...list, serialNumber: `urn:uuid:${idOf(JSON.stringify(list))}` };
}

function componentOf(name, ref, { version, license, integrity, optional }) {
  const isExpression = license.includes(" ");
  return {
    "bom-ref": ref,
    type: "library",
    name,
    version,
    scope: optional ? "optional" : "required",
    hashes: [
      {
        alg: "SHA-512",
        content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex"),
      },
    ],
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
  };
}

/** Returns a UUID made of a text's digest: RFC 9562, version 8. */
function idOf(text) {
  const digits = createHash("sha256").update(text).digest("hex");
  const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digits);
  const [one, two, three, four, five] = parts;
  return `${one}-${two}-8${three}-8${four}-${five}`;
}

function nameOf(path) {
  return path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** Gives files the modes that they have in the archive, whatever the umask of the machine is. */
function restrictModes(folder, programs) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const isProgram = entry.isDirectory() || entry.parentPath === programs;
    chmodSync(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644);
  }
}

/** Copies the client, which is a package of its own, to a new folder. */
export function writeClient(root, folder) {
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(join(root, "dist/client"), folder, { recursive: true });
  restrictModes(folder, null);
}
