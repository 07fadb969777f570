import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const script = fileURLToPath(new URL("../../.config/check-voice.mjs", import.meta.url));

/** One sample for each phrase that the check refuses. */
const refused = [
  "What is not there is named.",
  "Whose those are that were nobody's.",
  "Those that were nobody's.",
  "Where operators are informed.",
  "Who made it.",
  "One that is kept.",
  "The same where a value is required.",
  "Kept for a day. What is older is deleted.",
  "The operator is told.",
  "A transfer that nobody was told of.",
  "Polled so often, in milliseconds.",
  "It asks for so much less.",
  "The invoice is looked at again.",
  "An invalid order makes nothing.",
  "The alarm sink, or null when there is none.",
  "The alarm ends by itself.",
  "For clients, or for who asks.",
  "Sent to whoever first hears of it.",
  "An address that is no contract.",
  "It comes for it all the same.",
  "It is counted anew.",
  "After a reorganisation.",
];

describe("the check of the voice", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "till-voice-"));
    mkdirSync(join(folder, ".config"));
    mkdirSync(join(folder, "src"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function write(name: string, content: string): void {
    writeFileSync(join(folder, name), content);
  }

  /** The lines on standard error of a run on the folder, or on a file in it. */
  function check(...words: string[]): string[] {
    const argv = [script, `--root=${folder}`, ...words];
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    const lines = stderr.split("\n").filter((line) => line !== "");
    expect(status, stderr).to.equal(lines.length === 0 ? 0 : 1);
    return lines;
  }

  it("refuses every phrase of its list in a comment", () => {
    write("src/a.ts", refused.map((text) => `/** ${text} */\nexport const a = 1;`).join("\n"));
    const lines = check(join(folder, "src/a.ts")).map((line) => Number(line.split(":")[1]));
    expect(lines).to.deep.equal(refused.map((_, at) => 2 * at + 1));
  });

  it("finds phrases in strings, templates, titles, line comments, YAML comments and Markdown prose", () => {
    write(
      "src/a.ts",
      '// The rate of a day. What\n// is older is deleted.\nf("the clerk is " +\n"told");',
    );
    write("src/b.ts", "it(`what costs ${f({ a: `x` })}, it was told of`, () => /[`]/);");
    write("src/c.yaml", "a: 1 # The operator\n#   is told.\n");
    write("src/d.md", "# Rates\n\nThe rate of a day.\nIt is told.\n\n- What is kept\n");
    expect(check(join(folder, "src")).map((line) => line.replace(/" *:.*/, ""))).to.deep.equal([
      'src/a.ts:1: "What',
      'src/a.ts:3: "is told',
      'src/b.ts:1: "what',
      'src/b.ts:1: "told of',
      'src/c.yaml:2: "is told',
      'src/d.md:4: "is told',
      'src/d.md:6: "What',
    ]);
  });

  it("accepts questions, code, and a phrase that is allowed with a reason", () => {
    write("src/a.ts", "// What if a node lies? Nothing is lost.\nconst what = that.is.told;");
    write("src/b.md", "Run `what is told`.\n\n```\nWhat is told\n```\n");
    write(
      "src/c.ts",
      '// "What now" voice: allow — the title of a page\nf("what is new"); // voice: allow — a name\n',
    );
    expect(check(join(folder, "src"))).to.deep.equal([]);
    write("src/c.ts", "// What is new. voice: allow\n");
    expect(check(join(folder, "src"))).to.have.length(1);
  });

  it("reads every folder when it is called without a path", () => {
    write("a.md", "It is told.\n");
    write(".config/b.mjs", "// What is old.\n");
    write("src/c.ts", "// What is new.\n");
    expect(check().map((line) => line.split(":")[0])).to.have.members([
      "a.md",
      ".config/b.mjs",
      "src/c.ts",
    ]);
  });
});
