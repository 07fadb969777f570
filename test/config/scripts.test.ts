import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The paths that a pattern like `test/{one,two}.test.ts` stands for. */
function expand(pattern: string): readonly string[] {
  const [, start = "", choices = "", end = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (choices === "") return [pattern];
  return choices.split(",").flatMap((choice) => expand(start + choice + end));
}

describe("The scripts of package.json", () => {
  it("name files that git has", () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    const named = Object.values(scripts)
      .flatMap((script) => script.split(" "))
      .filter((word) => /\w\/|\.(json|ts|mjs)$/.test(word))
      .flatMap(expand);
    expect(named).to.include.members(["test/coverage/run.ts", ".ci/nightly", "tsconfig.json"]);
    expect(named.filter((file) => !files.includes(file))).to.deep.equal([]);
  });
});
