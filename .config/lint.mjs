// npm run lint: checks types and lint rules of src/ and test/. Both use one program, whose types the rules then need not
// compute again. `npm run typecheck` checks types only.
import { ESLint } from "eslint";
import ts from "typescript";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const { fileNames, options, errors } = ts.getParsedCommandLineOfConfigFile(
  `${root}tsconfig.json`,
  undefined,
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (fault) => report([fault]) },
);
const program = ts.createProgram(fileNames, options);
const faults = ts.sortAndDeduplicateDiagnostics([...errors, ...ts.getPreEmitDiagnostics(program)]);
report(faults);

const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: fileURLToPath(new URL("eslint.config.mjs", import.meta.url)),
  overrideConfig: {
    files: ["**/*.ts"],
    languageOptions: { parserOptions: { programs: [program], project: null } },
  },
});
const results = await eslint.lintFiles(["src", "test"]);
const formatter = await eslint.loadFormatter("stylish");
process.stdout.write(await formatter.format(results));
const isClean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
if (!isClean || faults.length > 0) process.exitCode = 1;

/** Prints faults that the compiler found. */
function report(list) {
  process.stdout.write(
    ts.formatDiagnostics(list, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => "\n",
    }),
  );
}
