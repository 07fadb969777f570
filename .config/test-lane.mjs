// A process of npm test. It runs the compiled test files that its parent names, one after the other, each as a run of
// mocha of its own, and ends once the parent has disconnected. Arguments are options of mocha.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { default: Mocha } = await import("mocha");
const { loadOptions } = require("mocha/lib/cli/options.cjs");
const { normalizeRunOptions } = require("mocha/lib/cli/run.cjs");

/** Enough for helpers of helpers. mocha's own launcher keeps whole stacks, which make every error slow. */
Error.stackTraceLimit = 30;

const options = loadOptions(process.argv.slice(2));
normalizeRunOptions(options);

// mocha ignores them during a run; between two files they would end the process.
process.on("unhandledRejection", (reason) => {
  console.error("A promise was rejected, and nothing handled it:", reason);
});

process.on("message", async (file) => {
  try {
    const mocha = new Mocha(options);
    mocha.addFile(file);
    await mocha.loadFilesAsync();
    mocha.run(() => {
      mocha.dispose();
      if (process.connected) process.send(file);
    });
  } catch (error) {
    // A file that cannot be loaded.
    console.error(error);
    process.exit(1);
  }
});
