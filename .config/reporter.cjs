// mocha's spec reporter, which also leaves its counts and its failures where .config/test.mjs finds them. A suite that
// was skipped counts as failed where none may be.
const { appendFileSync } = require("node:fs");
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
    runner.once("end", () => {
      const { passes, failures, pending } = runner.stats;
      const skipped = process.env.TILL_TEST_NO_SKIP === "1" ? pending : 0;
      if (skipped > 0) {
        console.log(`${skipped} tests were skipped, and none may be here`);
        process.exitCode = 1;
        runner.failures += skipped;
      }
      const counts = process.env.TILL_TEST_COUNTS;
      if (counts !== undefined) appendFileSync(counts, `${passes} ${failures + skipped}\n`);
    });
  }
};
