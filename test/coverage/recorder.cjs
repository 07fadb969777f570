// Loaded into each process of a run of the tests: the functions that notes at branches call, and a file of the branches
// that the process has taken, by number, when it ends.
const { randomUUID } = require("node:crypto");
const { existsSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const folder = process.env.COVERAGE_NOTES ?? "";
const taken = new Set();

globalThis.__taken = (branch) => {
  taken.add(branch);
};
globalThis.__way = (whenTrue, value) => {
  taken.add(value ? whenTrue : whenTrue + 1);
  return value;
};
globalThis.__wayOfNull = (whenNull, value) => {
  taken.add(value === null || value === undefined ? whenNull : whenNull + 1);
  return value;
};

process.on("exit", () => {
  // A process may outlive the run.
  if (existsSync(folder)) writeFileSync(path.join(folder, randomUUID()), [...taken].join("\n"));
});
