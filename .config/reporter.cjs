// mocha's spec reporter, which also writes its counts, its failures and the time of each file for .config/test.mjs. A
// skipped test counts as failed if nothing may be skipped.
const { appendFileSync } = require("node:fs");
const { relative } = require("node:path");
const { reporters } = require("mocha");

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const told = process.env.TILL_TEST_FAILURES;
    if (told !== undefined) {
      runner.on("fail", (test, error) => {
        appendFileSync(
          told,
          `${test.titlePath().join(" > ")}\n${error.stack ?? error.message}\n\n`,
        );
      });
    }
    const times = process.env.TILL_TEST_TIMES;
    if (times !== undefined) {
      let startedAt = 0;
      runner.on("suite", (suite) => {
        if (suite.parent?.root === true) startedAt = performance.now();
      });
      runner.on("suite end", (suite) => {
        if (suite.parent?.root !== true) return;
        const milliseconds = Math.round(performance.now() - startedAt);
        const compiled = process.env.TILL_TEST_COMPILED ?? process.cwd();
        const file = relative(compiled, suite.file).replace(/\.mjs$/, ".ts");
        appendFileSync(times, `${milliseconds}\t${file}\n`);
      });
    }
    runner.once("end", () => {
      const { passes, failures, pending } = runner.stats;
      const skipped = process.env.TILL_TEST_NO_SKIP === "1" ? pending : 0;
      if (skipped > 0) {
        console.log(`${skipped} tests were skipped, but no test may be skipped here`);
        runner.failures += skipped;
      }
      const counts = process.env.TILL_TEST_COUNTS;
      if (counts !== undefined) appendFileSync(counts, `${passes} ${failures + skipped}\n`);
    });
  }
};
