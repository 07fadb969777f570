// Whether each problem that an operation declares was provoked by a test of the suite that has just run, over HTTP, and
// none that it does not declare. The file that it is given has a line for each refusal: method, path, code.
import { readFileSync } from "node:fs";
import { problemsOf } from "../../src/http/declare/responses.ts";
import type { Operation } from "../../src/http/declare/operation.ts";
import { problemsOfAnyRequest } from "../../src/http/declare/problems.ts";
import { allOperations } from "../../src/features/index.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("name the file of the refusals that were seen");
const refusals = [...new Set(readFileSync(file, "utf8").trim().split("\n"))].map((line) => {
  const [method = "", path = "", code = ""] = line.split(" ");
  return { method, path, code };
});

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^/v1${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`);
}

const declared = allOperations.flatMap((operation) => {
  const pattern = patternOf(operation);
  const seen = new Set(
    refusals
      .filter(({ method, path }) => method === operation.method && pattern.test(path))
      .map(({ code }) => code),
  );
  return operation.errors.map(({ definition }) => ({
    name: `${operation.id} ${definition.code}`,
    isSeen: seen.has(definition.code),
  }));
});

const known = allOperations.map((operation) => ({
  method: operation.method,
  pattern: patternOf(operation),
  codes: new Set(
    [...problemsOf(operation), ...problemsOfAnyRequest].map(({ definition }) => definition.code),
  ),
}));
const undeclared = refusals.filter(({ method, path, code }) => {
  const meant = known.filter((each) => each.method === method && each.pattern.test(path));
  return meant.length > 0 && !meant.some(({ codes }) => codes.has(code));
});

const missing = declared.filter(({ isSeen }) => !isSeen);
for (const { method, path, code } of undeclared) {
  console.log(`${method} ${path} answers ${code}, which it does not declare`);
}
for (const { name } of missing) console.log(`no test provokes ${name}`);
if (undeclared.length > 0 || missing.length > 0) process.exitCode = 1;
