// npm run house: counts by which the structure of src/ is judged (docs/decisions/0080-one-context.md). It exits with 1 if
// a count is above its limit in .config/house.json. With --accept the limits become the present counts, if none is
// higher, and with --raise in any case; with --list it also lists the files and exports that are counted.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const limitsFile = join(root, ".config/house.json");
const shortLines = 30;
/** Written by the build, kept word for word, or the words that payers read: not counted. */
const notWritten = /\/(generated|baseline|words)\//;
/** The only folder whose code may differ between SQLite and PostgreSQL. */
const databaseFolder = /^src\/platform\/database\//;
const dialects = new Set(["sqlite", "postgres"]);

const files = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => !notWritten.test(file));

let lines = 0;
const short = [];
const dialectBranches = [];
const factories = [];
const dependencyTypes = [];
/** The names that each file exports. */
const exported = new Map();
/** The files that import a name, by `file name`. */
const importers = new Map();

for (const file of files) {
  const text = readFileSync(join(root, file), "utf8");
  const count = text.split("\n").length - 1;
  lines += count;
  if (count <= shortLines) short.push(file);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  exported.set(file, source.statements.flatMap(namesExportedBy));
  visit(source, file, source);
}

const used = [...exported].flatMap(([file, names]) =>
  names.map((name) => [`${file} ${name}`, importers.get(`${file} ${name}`)?.size ?? 0]),
);
const onlyOnce = used.filter(([, count]) => count === 1).map(([name]) => name);

const counts = {
  "lines of src": lines,
  "files of src": files.length,
  "files of 30 lines or fewer": short.length,
  exports: used.length,
  "exports that one other file uses": onlyOnce.length,
  "exported factories": factories.length,
  "types of dependencies": dependencyTypes.length,
  "branches by database outside src/platform/database": dialectBranches.length,
};
const limits = JSON.parse(readFileSync(limitsFile, "utf8"));
for (const [name, count] of Object.entries(counts)) {
  const isAbove = count > limits[name];
  if (isAbove) process.exitCode = 1;
  console.log(
    `${String(count).padStart(8)}  ${name}${isAbove ? ` (at most ${limits[name]})` : ""}`,
  );
}
if (process.argv.includes("--list")) {
  show("Short files", short);
  show("Exports that one other file uses", onlyOnce);
  show("Exported factories", factories);
  show("Types of dependencies", dependencyTypes);
  show("Branches by database", dialectBranches);
}
const isRaising = process.argv.includes("--raise");
if (isRaising || (process.argv.includes("--accept") && process.exitCode !== 1)) {
  writeFileSync(limitsFile, `${JSON.stringify(counts, null, 2)}\n`);
  process.exitCode = 0;
} else if (process.exitCode === 1) {
  console.log(
    "Above a limit. Merge what is double or small first. If the change is worth its size, npm run house -- --raise records it, and the commit says why.",
  );
}

function show(title, entries) {
  if (entries.length > 0) console.log(`\n${title}:\n  ${entries.join("\n  ")}`);
}

function namesExportedBy(statement) {
  const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (isExported !== true) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : name.elements.map((element) => element.name.text),
    );
  }
  return statement.name === undefined ? [] : [statement.name.text];
}

function visit(node, file, source) {
  const place = () => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    return `${file}:${line + 1}`;
  };
  noteImport(node, file);
  const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (isExported && ts.isFunctionDeclaration(node) && /^(make|create)[A-Z]/.test(node.name.text)) {
    if (/^(?:Promise<)?void\b/.test(node.type?.getText(source) ?? "") === false) {
      if (returnsObject(node)) factories.push(`${place()} ${node.name.text}`);
    }
  }
  if (
    (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) &&
    /(Dependencies|Deps)$/.test(node.name.text)
  ) {
    dependencyTypes.push(`${place()} ${node.name.text}`);
  }
  if (!databaseFolder.test(file) && isDialectBranch(node)) dialectBranches.push(place());
  ts.forEachChild(node, (child) => visit(child, file, source));
}

/** True if a function returns an object of functions, or what `bind` makes of them. */
function returnsObject({ body }) {
  let found = false;
  const look = (node) => {
    if (ts.isReturnStatement(node) && node.expression !== undefined) {
      const { expression } = node;
      if (ts.isCallExpression(expression) && expression.expression.getText() === "bind")
        found = true;
      if (ts.isObjectLiteralExpression(expression)) {
        found ||= expression.properties.some(
          (each) =>
            ts.isMethodDeclaration(each) ||
            (ts.isPropertyAssignment(each) && ts.isFunctionLike(each.initializer)),
        );
      }
    }
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, look);
  };
  if (body !== undefined) ts.forEachChild(body, look);
  return found;
}

/** Notes the names of `import { … } from "…"` and of `const { … } = await import("…")`. */
function noteImport(node, file) {
  const add = (specifier, names) => {
    if (!specifier.startsWith(".")) return;
    const from = relative(root, join(root, dirname(file), specifier));
    for (const name of names) {
      const key = `${from} ${name}`;
      if (!importers.has(key)) importers.set(key, new Set());
      importers.get(key).add(file);
    }
  };
  if (ts.isImportDeclaration(node)) {
    const bindings = node.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return;
    const names = bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
    add(node.moduleSpecifier.text, names);
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [specifier] = node.arguments;
    if (!ts.isStringLiteral(specifier)) return;
    let outer = node.parent;
    while (ts.isAwaitExpression(outer) || ts.isParenthesizedExpression(outer)) outer = outer.parent;
    if (ts.isPropertyAccessExpression(outer)) add(specifier.text, [outer.name.text]);
    if (ts.isVariableDeclaration(outer) && ts.isObjectBindingPattern(outer.name)) {
      add(
        specifier.text,
        outer.name.elements.map((each) => (each.propertyName ?? each.name).text),
      );
    }
  }
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
