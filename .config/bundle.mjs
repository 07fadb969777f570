// How src/ is bundled with its packages: for dist/, and for the programs that tests start as processes.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "src/");
/** The composition root, which imports everything. */
const whole = join(source, "compose/index.ts");

/** Native modules, packages that read files of their own folder, and optional drivers that Till does not install. */
export const unbundled = [
  ...["sqlite3", "@node-rs/argon2", "esbuild", "mocha", "pg-native"],
  ...["pg-hstore", "mysql2", "mariadb", "tedious", "oracledb", "ibm_db", "snowflake-sdk", "odbc"],
];

/**
 * Returns the options of a bundle. `urlOf` returns, for a source file, the expression that replaces its
 * `import.meta.url`: files that it reads are found from there.
 */
export function bundleOptions(urlOf) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: unbundled,
    logLevel: "warning",
    // The same code in ESM: import() of a bundled CommonJS package has no named exports.
    alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
    banner: {
      js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
    },
    plugins: [sources(urlOf)],
  };
}

/** Loads the files of src/ and test/. `change` changes their text further. */
function sources(urlOf, change = (text) => text) {
  return {
    name: "sources",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = readFileSync(path, "utf8")
          .replaceAll("import.meta.url", () => urlOf(path))
          // Only as a namespace can the parts of zod that are not used be left out.
          .replaceAll('import { z } from "zod";', 'import * as z from "zod";')
          .replaceAll(importOfIndex, (statement, names, index) =>
            importDirectly(statement, names, join(dirname(path), index), dirname(path)),
          )
          .replaceAll(laterImportOfIndex, (statement, name, index) => {
            const file = originsOf(join(dirname(path), index)).get(name);
            if (file === undefined) return statement;
            return `const { ${name} } = await import("./${relative(dirname(path), file)}");`;
          });
        return { contents: change(contents), loader: "ts", resolveDir: dirname(path) };
      });
    },
  };
}

const importOfIndex = /^import (?!type)\{([^}]+)\} from "([^"]+\/index\.ts)";$/gm;

const laterImportOfIndex = /\bconst \{ (\w+) \} = await import\("([^"]+\/index\.ts)"\);/g;

/**
 * Imports names from the files that an index re-exports, and not from the index: a command would otherwise load every
 * file of every feature that it uses something of.
 */
function importDirectly(statement, names, index, folder) {
  const origins = originsOf(index);
  const direct = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => {
      const file = origins.get(name.split(" as ")[0]);
      return file && `import { ${name} } from "./${relative(folder, file)}";`;
    });
  // On the lines of the statement, so that positions in the source stay true.
  return direct.every(Boolean) ? direct.join(" ") + statement.replaceAll(/[^\n]/g, "") : statement;
}

const known = new Map();

/** Returns the files from which an index re-exports its names. */
function originsOf(index) {
  let origins = known.get(index);
  if (origins === undefined) {
    origins = new Map();
    known.set(index, origins);
    const isKnown = index.startsWith(source) && index !== whole && existsSync(index);
    const text = isKnown ? readFileSync(index, "utf8") : "";
    for (const [, names, file] of text.matchAll(/^export \{([^}]+)\} from "([^"]+)";$/gm)) {
      for (const name of names.split(",").map((one) => one.trim())) {
        if (name === "" || name.startsWith("type ")) continue;
        const [own, shown = own] = name.split(" as ");
        if (own === shown) origins.set(own, join(dirname(index), file));
      }
    }
  }
  return origins;
}

/**
 * Bundles the program to a folder, twice: main.js is the whole program; light.cjs contains only what commands
 * need that read the store. run.ts starts over in the whole program if a command needs more than light.cjs has.
 */
export async function bundleProgram(build, folder) {
  // The files lie side by side in dist/, and those that the program reads in dist/ at their places in src/.
  const urlOf = (path) => {
    const place = JSON.stringify(`./${relative(source, path)}`);
    return `new URL(${place}, import.meta.url).href`;
  };
  // Names stay: errors are recognized by the names of their classes.
  const shared = { outdir: folder, minifySyntax: true, minifyWhitespace: true };
  const main = "src/cli/main.ts";
  const options = { ...bundleOptions(urlOf), ...shared };
  await Promise.all([
    build({ ...options, splitting: true, chunkNames: "[hash]", entryPoints: { main } }),
    // One file, of which V8's code can be kept: see bin/light.cjs. Later imports run only when they are needed.
    build({
      ...options,
      entryPoints: { light: main },
      format: "cjs",
      outExtension: { ".js": ".cjs" },
      banner: { js: 'const ownUrl = require("node:url").pathToFileURL(__filename).href;' },
      define: { "import.meta.url": "ownUrl" },
      supported: { "dynamic-import": false },
      plugins: [withoutRest, sources(urlOf, withLaterRecords)],
    }),
  ]);
}

/** Replaces what only the whole program has by a file that says so when it is loaded, or when it is used. */
const withoutRest = {
  name: "without the rest",
  setup({ onLoad }) {
    const resolveDir = join(source, "compose/features");
    const rest = {
      contents:
        'import { WholeProgramNeeded } from "./whole-program-needed.ts"; throw new WholeProgramNeeded();',
    };
    onLoad({ filter: /\/src\/(compose\/index|cli\/commands\/[\w/-]+)\.ts$/ }, ({ path }) => {
      const isRest = path === whole || importOfAll.test(readFileSync(path, "utf8"));
      return isRest ? { ...rest, resolveDir } : undefined;
    });
    // Commander loads Node's child processes, which it starts for no command of Till.
    onLoad({ filter: /\/commander\/lib\/command\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace("require('node:child_process')", "{}"),
    }));
    // They ask a store only for its version, and derive no addresses from the keys of wallets.
    onLoad({ filter: /\/schema\/migrations\/\d+-[\w-]+\.ts$/ }, ({ path }) => {
      const [, version, name] = /(\d+)-([\w-]+)\.ts$/.exec(path);
      return {
        contents: `export const migration = { version: ${Number(version)}, name: "${name}" };`,
      };
    });
    onLoad({ filter: /\/src\/platform\/chain\/evm\/xpub\.ts$/ }, () => ({
      contents: `
        import { WholeProgramNeeded } from "./whole-program-needed.ts";
        ${importOfMadeOnUse}
        export const makeExtendedKeys = () => madeOnUse(() => { throw new WholeProgramNeeded(); });`,
      resolveDir,
    }));
    // Commands that only read ask nothing, log nothing, migrate nothing, and open the store without Sequelize.
    const unread = /\/(@inquirer\/prompts|pino|sequelize)\/|\/schema\/apply-migrations\.ts$/;
    onLoad({ filter: unread }, () => ({ ...rest, resolveDir }));
  },
};

/**
 * Makes records when they are used: most are those of responses, which commands do not check, and their making took a
 * fifth of the time of a command. The descriptions of their fields are for documents, which no command prints.
 */
function withLaterRecords(text) {
  const later = text.replaceAll(declaredRecord, "$1madeOnUse(() => $2);");
  if (later === text) return text;
  const described = later.replaceAll(describedFields, (statement) =>
    statement.replaceAll(/[^\n]/g, ""),
  );
  return `${described}\n${importOfMadeOnUse}`;
}

const importOfMadeOnUse = `import { madeOnUse } from ${JSON.stringify(join(root, ".config/made-on-use.mjs"))};`;

/** A declaration of a record at the top of a file, up to the line on which it ends. */
const declaredRecord =
  /^((?:export )?const \w+ = )((?:record|responseRecord|requestRecord|listRecord)\((?:.*\)|[^]*?\n\S*\)));$/gm;

const describedFields = /^describeFields\([^]*?^\S*\);$/gm;

/** An import of the composition root at the top of a file. */
const importOfAll = /^import (?!type)[^;]*"(?:\.\.\/)+(compose\/index|server)\.ts";$/m;
