// npm run lint: checks types and lint rules of src/ and of test/, in a process each. A process checks both with one
// program, whose types the rules then need not compute again. `npm run typecheck` checks types only.
import { ESLint } from "eslint";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import ts from "typescript";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [, script, part] = process.argv;

const isSound =
  part === undefined
    ? (await Promise.all(["src", "test"].map(lintInProcess))).every(Boolean)
    : await lint(part);
if (!isSound) process.exitCode = 1;

/** Lints a folder in a process of its own, and prints its output when it has ended. Returns false if it failed. */
async function lintInProcess(folder) {
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  process.stdout.write(output);
  return status === 0;
}

/** Returns false if a file of src/, or a file elsewhere, has a fault. */
async function lint(folder) {
  const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(
    `${root}tsconfig.json`,
    undefined,
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (fault) => report([fault]) },
  );
  const inSource = (name) => name.startsWith(`${root}src/`);
  // Tests import src/, and src/ imports no tests.
  const files = folder === "src" ? fileNames.filter(inSource) : fileNames;
  const own = folder === "src" ? files : files.filter((name) => !inSource(name));
  const program = ts.createProgram(files, options);
  const faults = own.flatMap((name) => [
    ...ts.getPreEmitDiagnostics(program, program.getSourceFile(name)),
  ]);
  const distinct = ts.sortAndDeduplicateDiagnostics([...errors, ...faults]);
  report(distinct);

  const eslint = new ESLint({
    cwd: root,
    overrideConfigFile: fileURLToPath(new URL("eslint.config.mjs", import.meta.url)),
    overrideConfig: {
      files: ["**/*.ts"],
      languageOptions: { parserOptions: { programs: [program], project: null } },
    },
  });
  const results = await eslint.lintFiles([folder]);
  const formatter = await eslint.loadFormatter("stylish");
  process.stdout.write(await formatter.format(results));
  const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
  return isClean && distinct.length === 0;
}

/** Prints faults that the compiler found. */
function report(faults) {
  process.stdout.write(
    ts.formatDiagnostics(faults, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => "\n",
    }),
  );
}
