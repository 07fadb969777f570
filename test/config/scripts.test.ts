import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("The scripts of package.json", () => {
  // Neither the shell of npm nor mocha expands braces: a path with braces is a file that git does not have.
  it("name files that git has", () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    const named = Object.values(scripts)
      .flatMap((script) => script.split(" "))
      .filter((word) => /\w\/|\.(json|ts|mjs)$/.test(word));
    expect(named).to.include.members(["test/coverage/run.ts", ".ci/nightly", "tsconfig.json"]);
    expect(named.filter((file) => !files.includes(file))).to.deep.equal([]);
  });
});
