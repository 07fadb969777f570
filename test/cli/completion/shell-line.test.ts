import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { inQuotes } from "../../../src/cli/completion/shell-line.ts";

describe("inQuotes", () => {
  it("writes a word that a shell takes as it is, whatever its characters", () => {
    for (const value of ["/tmp/till-demo-1", "/tmp/o'hara's $(id) `id` \\ \"x\"", "''", ""]) {
      const script = `export FOLDER=${inQuotes(value)}; printf %s "$FOLDER"`;
      expect(execFileSync("sh", ["-c", script], { encoding: "utf8" })).to.equal(value);
    }
  });
});
