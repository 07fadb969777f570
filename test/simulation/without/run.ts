// npm run simulate:without [-- RULE ...]: takes the rules of rules.yaml out one at a time, each in a copy of the project, and
// plays histories until one fails. Fails if all histories of a rule pass: then nothing would notice its lack.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRules, root, withoutRule, type Rule } from "./rules.ts";

const historiesMost = "1000";

const wanted = process.argv.slice(2);
const copy = mkdtempSync(join(tmpdir(), "till-without-"));
process.once("exit", () => {
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
for (const name of ["src", "test", "config", "docs", "package.json"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

for (const rule of readRules()) {
  if (wanted.length === 0 || wanted.includes(rule.rule)) tryWithout(rule);
}

function tryWithout({ rule, changes }: Rule): void {
  const files = new Map(changes.map(({ file }) => [file, readFileSync(join(root, file), "utf8")]));
  const changed = new Map(files);
  for (const change of changes) {
    changed.set(change.file, withoutRule(changed.get(change.file) ?? "", change));
  }
  for (const [file, source] of changed) writeFileSync(join(copy, file), source);
  const options = ["--steps", "12", "--histories", historiesMost, "--verify", "end", "--first"];
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--import", "tsx", join(copy, "test/simulation/run.ts"), ...options],
    { cwd: copy, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  const found = stdout.trim().split("\n")[0] ?? "";
  if (status === null || !/^\d+/.test(found))
    throw new Error(`The histories without ${rule} did not run.`);
  if (status === 0) process.exitCode = 1;
  console.log(status === 0 ? `${rule}: NOT NOTICED, ${found}` : `${rule}: seed ${found}`);
  for (const [file, source] of files) writeFileSync(join(copy, file), source);
}
