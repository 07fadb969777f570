// The result of npm test for files that fail in every way. The files are in suites/, and no other run takes them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("npm test", () => {
  /** Runs files of suites/. Returns the exit code, all output, and its last line. */
  function run(files: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const paths = files.map((file) => `test/config/suites/${file}.ts`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [".config/test.mjs", ...paths], {
      cwd: root,
      env: { ...process.env, TILL_TEST_NO_SKIP: "0", ...env },
      encoding: "utf8",
    });
    return { status, output: stdout + stderr, result: stdout.trim().split("\n").at(-1) };
  }

  it("ends with the sum of its files, and with exit code 0 if all passed", () => {
    const { status, result } = run(["passes", "skips"]);
    expect([status, result]).to.deep.equal([0, "1 passed, 0 failed"]);
  });

  it("fails for a skipped test where nothing may be skipped", () => {
    const { status, result } = run(["passes", "skips"], { TILL_TEST_NO_SKIP: "1" });
    expect([status, result]).to.deep.equal([1, "1 passed, 1 failed"]);
  });

  for (const [file, passed, words] of [
    ["fails", 1, "the test failed"],
    ["does-not-load", 1, "the file was not loaded"],
    ["dies", 1, "test/config/suites/dies.ts"],
    ["rejects-later", 2, "nobody handles this"],
    ["leaves-open", 2, "TCPServerWrap, perhaps by test/config/suites/leaves-open.ts"],
  ] as const) {
    it(`fails, runs the other files, and says why if a file ${file.replaceAll("-", " ")}`, () => {
      const { status, output, result } = run([file, "passes"]);
      expect([status, result]).to.deep.equal([1, `${String(passed)} passed, 1 failed`]);
      expect(output).to.include(words);
    });
  }
});
