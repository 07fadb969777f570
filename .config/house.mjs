// npm run house: prints figures of the source code's structure, to be compared before and after a change. It exits with 1
// if a figure is above its limit. With --all it lists every long function instead of the ten longest.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const filesPerFolderMax = 15;
const functionLinesMax = 70;
/** Grows with every release. */
const migrations = /\/migrations$/;
/** The only folder whose code may differ between SQLite and PostgreSQL. */
const databaseFolder = /^src\/platform\/database\//;
const dialects = new Set(["sqlite", "postgres"]);

const files = filesOf("src");
const folders = new Map();
for (const file of [...files, ...filesOf("test")]) {
  const folder = dirname(file);
  folders.set(folder, (folders.get(folder) ?? 0) + 1);
}
const crowded = [...folders]
  .filter(([folder, count]) => count > filesPerFolderMax && !migrations.test(folder))
  .sort(([, one], [, other]) => other - one);

let lines = 0;
const longFunctions = [];
const longMigrations = [];
const dialectBranches = [];
for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  lines += text.split("\n").length - 1;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  visit(source, file, source);
}
longFunctions.sort((one, other) => other.lines - one.lines);

const arrows = run(
  "depcruise",
  "--config",
  ".config/dependency-cruiser.cjs",
  "--output-type",
  "json",
  "src",
);
const violations = JSON.parse(arrows).summary.violations;
const isCycle = ({ rule }) => rule.name === "no-cycles";
const voice = spawnSync(process.execPath, [join(root, ".config/check-voice.mjs")], {
  cwd: root,
  encoding: "utf8",
});
const refused = voice.stderr.split("\n").filter((line) => line !== "").length;

const figures = [
  ["lines of src", lines, null],
  ["files of src", files.length, null],
  [`folders of more than ${filesPerFolderMax} files`, crowded.length, 0],
  [`functions over ${functionLinesMax} lines`, longFunctions.length, null],
  [`migrations over ${functionLinesMax} lines`, longMigrations.length, null],
  ["phrases that the voice check refuses", refused, null],
  ["import cycles", violations.filter(isCycle).length, 0],
  ["imports against the arrows", violations.filter((each) => !isCycle(each)).length, 0],
  ["branches by database outside src/platform/database", dialectBranches.length, null],
];
for (const [name, value, limit] of figures) {
  const isAbove = limit !== null && value > limit;
  if (isAbove) process.exitCode = 1;
  console.log(`${String(value).padStart(7)}  ${name}${isAbove ? ` (at most ${limit})` : ""}`);
}
show(
  "Folders",
  crowded.map(([folder, count]) => `${count} ${folder}`),
);
show(
  "Functions",
  longFunctions
    .slice(0, process.argv.includes("--all") ? undefined : 10)
    .map(({ lines, place }) => `${lines} ${place}`),
);
show("Branches by database", dialectBranches);

function show(title, entries) {
  if (entries.length > 0) console.log(`\n${title}:\n  ${entries.join("\n  ")}`);
}

/** The TypeScript files in a folder, by their paths from the root. */
function filesOf(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function visit(node, file, source) {
  const place = () => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    return `${file}:${line + 1}`;
  };
  if (ts.isFunctionLike(node) && node.body !== undefined) {
    const length = node.getText(source).split("\n").length;
    // A migration is a list of statements that never changes again.
    const long = migrations.test(dirname(file)) ? longMigrations : longFunctions;
    if (length > functionLinesMax) long.push({ lines: length, place: place() });
  }
  if (!databaseFolder.test(file) && isDialectBranch(node)) dialectBranches.push(place());
  ts.forEachChild(node, (child) => visit(child, file, source));
}

/** True for `… === "sqlite"` and for an object with a key for each database. */
function isDialectBranch(node) {
  if (ts.isBinaryExpression(node)) {
    return [node.left, node.right].some(
      (side) => ts.isStringLiteral(side) && dialects.has(side.text),
    );
  }
  if (!ts.isObjectLiteralExpression(node)) return false;
  const keys = node.properties.flatMap(({ name }) =>
    name && ts.isIdentifier(name) ? [name.text] : [],
  );
  return [...dialects].every((dialect) => keys.includes(dialect));
}

function run(command, ...words) {
  const program = join(root, "node_modules/.bin", command);
  return spawnSync(program, words, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }).stdout;
}
