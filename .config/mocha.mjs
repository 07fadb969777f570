// Options of mocha for npm test, whose files are compiled and run in a few processes at a time.
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { default as options } from "../.mocharc.mjs";

const at = (file) => fileURLToPath(new URL(file, import.meta.url));
const { import: _loader, ...others } = options;

export default {
  ...others,
  parallel: true,
  // More than there are cores, because each process waits for nearly half of its time.
  jobs: Math.min(2 * availableParallelism(), 4),
  require: [at("mocha-process.mjs")],
  reporter: at("reporter.cjs"),
};
