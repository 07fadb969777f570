// mocha's spec reporter, which also writes its counts for .config/test.mjs. A skipped test counts as failed if nothing may
// be skipped.
const { writeFileSync } = require("node:fs");
const path = require("node:path");
const { reporters } = require("mocha");

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    let hasEnded = false;
    // A process that ended while it had no file: mocha waits for its end, and so ends with nothing to wait for.
    process.once("beforeExit", () => {
      if (hasEnded) return;
      runner.stats.duration = Date.now() - runner.stats.start;
      this.epilogue();
      console.log("  A process of the tests ended while it had no file.\n");
      count(1);
    });
    // A file that does not load, or whose process dies, has no test that could be named.
    runner.prependListener("fail", (test, { file }) => {
      if (file !== undefined)
        test.title = path.relative(process.env.TILL_TEST_COMPILED, file).replace(/\.mjs$/, ".ts");
    });
    runner.once("end", () => {
      hasEnded = true;
      count();
    });

    function count(lost = 0) {
      const { passes, failures, pending } = runner.stats;
      const skipped = process.env.TILL_TEST_NO_SKIP === "1" ? pending : 0;
      if (skipped > 0) {
        console.log(`${skipped} tests were skipped, but no test may be skipped here`);
        runner.failures += skipped;
      }
      writeFileSync(process.env.TILL_TEST_COUNTS, `${passes} ${lost + failures + skipped}`);
    }
  }
};
