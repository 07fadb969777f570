// Loads the program of commands that only read, dist/light.cjs, with the code that V8 made of it during the build. V8
// would otherwise read two megabytes of source before every command, which takes longer than most commands.
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { join } = require("node:path");
const { Script } = require("node:vm");

/** Returns the file with V8's code. Each version of Node has its own, because V8 accepts no other. */
function codeFile(folder) {
  return join(folder, `light-${process.version}-${process.arch}.code`);
}

/** Loads the program from its folder: with the code of the build if there is any for this Node, otherwise without. */
function loadLight(folder) {
  let code;
  try {
    code = readFileSync(codeFile(folder));
  } catch {
    // From Node 22 on, require() uses the user's cache.
    return require(join(folder, "light.cjs"));
  }
  return evaluateLight(folder, code).exports;
}

/** Evaluates the program as `require` does; returns its exports and its script. */
function evaluateLight(folder, cachedData) {
  const filename = join(folder, "light.cjs");
  // The bundle has only ASCII characters, which are read fastest this way.
  const source = readFileSync(filename, "latin1");
  const script = new Script(
    `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
    { filename, cachedData },
  );
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, folder);
  return { exports: module.exports, script };
}

module.exports = { codeFile, evaluateLight, loadLight };
