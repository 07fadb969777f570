// Whether each problem that an operation declares was provoked by a test of the suite that has just run, over HTTP. The
// file that it is given has a line for each refusal: method, path, code. It ends with 1 where one was not.
import { readFileSync } from "node:fs";
import type { Operation } from "../../src/api/operation.ts";
import { allOperations } from "../../src/features/index.ts";

/** Why a problem of an operation is not provoked over HTTP, by `operation code`. */
const excused: Readonly<Record<string, string>> = {};

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

const missing = declared.filter(({ name, isSeen }) => !isSeen && !(name in excused));
const needless = Object.keys(excused).filter(
  (name) => declared.find((each) => each.name === name)?.isSeen !== false,
);
for (const { name } of missing) console.log(`no test provokes ${name}`);
for (const name of needless) console.log(`${name} is excused, and is not declared or was provoked`);
if (missing.length > 0 || needless.length > 0) process.exitCode = 1;
