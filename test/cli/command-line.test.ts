import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { exitCodes, exitReasonOf } from "../../src/cli/failures/exit-codes.ts";
import { makeTerminal, printable } from "../../src/cli/terminal/terminal.ts";
import { commonOptions } from "../../src/platform/config/settings.ts";
import { readTerminalPreferences } from "../../src/platform/config/terminal.ts";
import { till } from "../support/programs/till.ts";

describe("the command line", () => {
  it("prints help only on standard output", async () => {
    const { code, stdout, stderr } = await till(["--help"]);
    expect(code).to.equal(0);
    expect(stderr).to.equal("");
    for (const word of [
      ...["init", "serve", "demo", "org", "user", "key", "wallet", "invoice", "payments"],
      ...["analytics", "audit", "sandbox", "db", "config"],
    ]) {
      expect(stdout).to.match(new RegExp(`^  ${word}\\b`, "m"));
    }
    expect(stdout).to.include("Examples:");
  });

  it("finds the store and the settings as the settings declare", async () => {
    const { stdout } = await till(["--help"]);
    for (const { flags } of commonOptions()) expect(stdout).to.include(`  ${flags} `);
  });

  it("has two examples for every command", async () => {
    for (const words of await everyCommand()) {
      const { stdout } = await till([...words, "--help"]);
      const examples = stdout.split("Examples:\n")[1]?.trim().split("\n") ?? [];
      expect(examples.length, words.join(" ")).to.be.at.least(2);
      for (const line of examples) expect(line.trim()).to.match(/^till /);
    }
  });

  it("prints its version", async () => {
    const { code, stdout } = await till(["--version"]);
    const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
    expect(code).to.equal(0);
    expect(stdout.trim()).to.equal((JSON.parse(manifest) as { version: string }).version);
  });

  it("recognizes a feature's command after a flag whose value is another command's name", async () => {
    for (const words of [["--data-dir", "serve"], ["--data-dir=serve"], ["--json"]]) {
      const { code, stdout } = await till([...words, "org", "approve", "--help"]);
      expect({ code, isFound: stdout.includes("till org approve") }, words.join(" ")).to.deep.equal(
        { code: 0, isFound: true },
      );
    }
  });

  it("explains its exit codes", async () => {
    const { code, stdout } = await till(["help", "exit-codes"]);
    expect(code).to.equal(0);
    for (const { code: one, means } of Object.values(exitCodes)) {
      expect(stdout).to.match(new RegExp(`^${String(one)} +${means}$`, "m"));
    }
  });

  it("prints the help of a command by its words, and lists the topics for an unknown one", async () => {
    const known = await till(["help", "org", "approve"]);
    expect(known.stdout).to.include("Usage: till org approve");
    const unknown = await till(["help", "nothing"]);
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.include("serve").and.include("exit-codes");
  });

  const wrong: readonly (readonly [string, readonly string[], string])[] = [
    ["an unknown command", ["demmo"], "Did you mean demo?"],
    ["an unknown verb", ["org", "aprove"], "Did you mean approve?"],
    ["a command like no other", ["xyzzy"], "Unknown command 'xyzzy'. till --help lists"],
    ["a verb like no other", ["webhook", "remove"], "till webhook --help lists the commands."],
    ["an unknown flag", ["org", "list", "--jsn"], "Did you mean --json?"],
    ["no command", [], "Give one of the commands"],
    ["a noun without a verb", ["org"], "Give one of the commands"],
    ["a missing argument", ["org", "approve"], "organizationId"],
    [
      "an argument too many",
      ["org", "list", "all"],
      'Too many arguments: till org list takes no arguments, and "all" is one more. Put',
    ],
    [
      "a value of two words without quotes",
      ["sandbox", "send", "0xa", "1", "--from", "0xb", "0xc"],
      'till sandbox send takes <to> <amount>, and "0xc" is one more. Put a value with spaces in',
    ],
    ["a flag without its value", ["org", "list", "--limit"], "--limit"],
  ];
  for (const [what, words, hint] of wrong) {
    it(`exits with 2 for ${what}, and says what was meant`, async () => {
      const { code, stdout, stderr } = await till(words);
      expect(code).to.equal(2);
      expect(stdout).to.equal("");
      expect(stderr).to.include(hint);
    });
  }

  it("reports failures to scripts as the API's problem document", async () => {
    const { code, stdout, stderr } = await till(["org", "lst", "--json"]);
    expect(code).to.equal(2);
    expect(stdout).to.equal("");
    const problem = JSON.parse(stderr) as Record<string, unknown>;
    expect(problem).to.have.all.keys(
      ...["type", "title", "status", "detail", "code", "requestId", "errors"],
    );
    expect(problem["code"]).to.equal("usage");
    expect(problem["requestId"]).to.match(/^req_/);
  });

  it("names all missing flags without a terminal", async () => {
    const { code, stderr } = await till(["init"]);
    expect(code).to.equal(2);
    for (const flag of ["--admin-email", "--admin-name", "--organization", "--password-stdin"]) {
      expect(stderr).to.include(flag);
    }
    const key = await till(["key", "create"]);
    expect(key.code).to.equal(2);
    expect(key.stderr).to.include("--scopes");
  });

  it("asks for confirmation before it grants access, and names --yes without a terminal", async () => {
    const { code, stderr } = await till(["org", "approve", "org_x"]);
    expect(code).to.equal(2);
    expect(stderr).to.include("--yes");
  });

  it("derives the exit code from the problem's status", () => {
    const cases: readonly (readonly [number, keyof typeof exitCodes])[] = [
      [400, "usage"],
      [401, "notAllowed"],
      [403, "notAllowed"],
      [404, "notFound"],
      [409, "conflict"],
      [412, "conflict"],
      [422, "failed"],
      [429, "busy"],
      [500, "failed"],
      [503, "busy"],
    ];
    for (const [status, outcome] of cases) {
      expect(exitReasonOf({ code: "any", status }), String(status)).to.equal(outcome);
    }
    expect(exitReasonOf({ code: "wrong_secret", status: 409 })).to.equal("settings");
  });

  it("loads only the argument parser for its help", () => {
    const { packages, files } = loadedAtStart();
    expect([...packages].filter((name) => !name.startsWith("node:"))).to.deep.equal(["commander"]);
    expect(files.size).to.be.below(12);
  });
});

describe("colors", () => {
  const terminal = (flags: object, env: Record<string, string>, isTTY: boolean) =>
    makeTerminal(flags, {
      stdin: process.stdin,
      stderr: process.stderr,
      env,
      stdout: Object.assign(Object.create(process.stdout) as typeof process.stdout, { isTTY }),
    }).hasColor;

  it("are used on terminals", () => {
    expect(terminal({}, {}, true)).to.equal(true);
    expect(terminal({}, {}, false)).to.equal(false);
  });

  it("are left out with NO_COLOR, on a dumb terminal and with --no-color", () => {
    expect(terminal({}, { NO_COLOR: "1" }, true)).to.equal(false);
    expect(terminal({}, { TERM: "dumb" }, true)).to.equal(false);
    expect(terminal({ color: false }, { FORCE_COLOR: "1" }, true)).to.equal(false);
  });

  it("can be forced, but not against NO_COLOR; empty counts as not set", () => {
    expect(terminal({}, { FORCE_COLOR: "1" }, false)).to.equal(true);
    expect(terminal({}, { FORCE_COLOR: "1", NO_COLOR: "1" }, true)).to.equal(false);
    expect(readTerminalPreferences({ NO_COLOR: "", FORCE_COLOR: "" }).color).to.equal(null);
    expect(readTerminalPreferences({ FORCE_COLOR: "0" }).color).to.equal(null);
  });

  it("cannot be injected by untrusted text", () => {
    expect(printable("a\u001b[31mb\u202ec\u0007\nd")).to.equal("a\ufffd[31mb\ufffdc\ufffd\nd");
  });
});

/** The words of every command, as its help lists them. */
async function everyCommand(): Promise<string[][]> {
  const namesIn = (help: string) =>
    Array.from(
      (help.split("Commands:\n")[1] ?? "").split("\n\n")[0]?.matchAll(/^ {2}([\w-]+)/gm) ?? [],
      (match) => match[1] ?? "",
    );
  const found: string[][] = [];
  for (const noun of namesIn((await till(["--help"])).stdout)) {
    const verbs = namesIn((await till([noun, "--help"])).stdout);
    if (verbs.length === 0) found.push([noun]);
    else found.push(...verbs.map((verb) => [noun, verb]));
  }
  expect(found.length).to.be.above(8);
  return found;
}

/** The modules imported before any command runs; dynamic imports come later and do not count. */
function loadedAtStart(): { packages: Set<string>; files: Set<string> } {
  const packages = new Set<string>();
  const files = new Set<string>();
  const open = [fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    const text = readFileSync(path, "utf8");
    for (const [, names = "", source = ""] of text.matchAll(
      /^(?:import|export) (?!type)(?:([^;"=(]*?) from )?"([^"]+)";/gm,
    )) {
      const areTypes = /^\{(\s*type [^,}]+,?)+\s*\} ?$/.test(names);
      if (areTypes) continue;
      if (source.startsWith(".")) open.push(join(dirname(path), source));
      else packages.add(source);
    }
  }
  return { packages, files };
}
