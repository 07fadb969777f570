// npm run lint: checks types and lint rules with one program, whose types the rules then need not compute again. This
// takes hardly longer than the rules alone. `npm run typecheck` checks types only.
import { ESLint } from "eslint";
import ts from "typescript";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report };
const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(
  `${root}tsconfig.json`,
  undefined,
  host,
);
const program = ts.createProgram(fileNames, options);
const faults = ts.getPreEmitDiagnostics(program);
faults.forEach(report);

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

const isFound = results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0);
if (isFound || faults.length > 0) process.exitCode = 1;

function report(fault) {
  process.stdout.write(
    ts.formatDiagnostic(fault, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => "\n",
    }),
  );
  process.exitCode = 1;
}
