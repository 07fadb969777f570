// A process of npm test. It runs the compiled test files that its parent names, one after the other, each as a run of
// mocha of its own, and ends once the parent has disconnected. Arguments are options of mocha.
import { createRequire } from "node:module";
import { setTimeout } from "node:timers";

const require = createRequire(import.meta.url);
const { default: Mocha } = await import("mocha");
const { loadOptions } = require("mocha/lib/cli/options.cjs");
const { normalizeRunOptions } = require("mocha/lib/cli/run.cjs");

/** Enough for helpers of helpers. mocha's own launcher keeps whole stacks, which make every error slow. */
Error.stackTraceLimit = 30;

/** The time that files may take to end what they have left open, such as the server of a failed hook, in milliseconds. */
const patienceMs = 60_000;

const options = loadOptions(process.argv.slice(2));
normalizeRunOptions(options);

// mocha ignores them during a run; between two files they would end the process.
process.on("unhandledRejection", (reason) => {
  console.error("A promise was rejected, and nothing handled it:", reason);
});

process.once("disconnect", () => {
  // Does not keep a process that is ready to end.
  setTimeout(() => {
    console.error("A file of this process has left something open, such as a server or a timer.");
    process.exit(1);
  }, patienceMs).unref();
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
