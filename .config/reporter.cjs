// mocha's spec reporter, which also writes its counts for .config/test.mjs. A skipped test counts as failed if nothing may
// be skipped.
const { writeFileSync } = require("node:fs");
const { relative } = require("node:path");
const { reporters } = require("mocha");

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    // A file that does not load, or whose process dies, has no test that could be named.
    runner.prependListener("fail", (test, { file }) => {
      if (file !== undefined)
        test.title = relative(process.env.TILL_TEST_COMPILED, file).replace(/\.mjs$/, ".ts");
    });
    runner.once("end", () => {
      const { passes, failures, pending } = runner.stats;
      const skipped = process.env.TILL_TEST_NO_SKIP === "1" ? pending : 0;
      if (skipped > 0) {
        console.log(`${skipped} tests were skipped, but no test may be skipped here`);
        runner.failures += skipped;
      }
      writeFileSync(process.env.TILL_TEST_COUNTS, `${passes} ${failures + skipped}`);
    });
  }
};
