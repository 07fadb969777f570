// mocha's spec reporter, closed by one plain line; a suite that was skipped counts as failed where none may be.
const { reporters } = require("mocha");

module.exports = class CiReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once("end", () => {
      const { passes, failures, pending } = runner.stats;
      const skipped = process.env.TILL_TEST_NO_SKIP === "1" ? pending : 0;
      if (skipped > 0) {
        console.log(`${skipped} tests were skipped, and none may be here`);
        process.exitCode = 1;
        runner.failures += skipped;
      }
      console.log(`${passes} passed, ${failures + skipped} failed`);
    });
  }
};
