// The result of npm test for files that fail in every way. The files are in suites/, and no other run takes them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("npm test", () => {
  /** Runs files of suites/. Returns the exit code, all output, and its last line. */
  function run(
    files: readonly string[],
    env: NodeJS.ProcessEnv = {},
    options: readonly string[] = [],
  ) {
    const paths = files.map((file) => `test/config/suites/${file}.ts`);
    const words = [".config/test.mjs", ...options, ...paths];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
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

  it("fails if mocha ends without a result", () => {
    const { status, output, result } = run(["passes", "skips"], {}, ["--list-reporters"]);
    expect([status, result]).to.deep.equal([1, "0 passed, 1 failed"]);
    expect(output).to.include("mocha ended without a result");
  });

  it("fails, and counts all tests, if a process ends while it has no file", () => {
    const { status, output, result } = run(["ends-later", "waits"]);
    expect([status, result]).to.deep.equal([1, "2 passed, 1 failed"]);
    expect(output).to.include("A process of the tests ended while it had no file");
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
