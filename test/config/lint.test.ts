// The configuration of npm run lint: which rules hold where, among them those that the project wrote itself.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const root = fileURLToPath(new URL("../..", import.meta.url));
const copied = [
  ".gitignore",
  ".oxlintrc.json",
  ".config/lint-rules.mjs",
  "tsconfig.json",
  "package.json",
];
/** Shops on clients that their test generates, and what the build writes of the client, which tsc checks. */
const unchecked = ["test/clients/shops/", "src/client/generated/"];

/** Lines that a file must not have, each with the rule that refuses it. */
const refused: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "src/a.ts": {
    "export const at = Date.now();": "eslint(no-restricted-properties)",
    "export const today = new Date();": "till(no-current-date)",
    "export const chance = Math.random();": "eslint(no-restricted-properties)",
    'export const setting = process.env["PORT"];': "eslint(no-restricted-properties)",
    'export const isUrl = URL.canParse("a");': "eslint(no-restricted-properties)",
    'export const amount = parseFloat("1.5");': "eslint(no-restricted-globals)",
    "export const one = { ...{ two: 2 } };": "till(no-literal-spread)",
    "console.log(1);": "eslint(no-console)",
    'export const count: number = "one";': "typescript(TS2322)",
    "Promise.resolve(1);": "typescript(no-floating-promises)",
    "export const all = JSON.parse('1').all;": "typescript(no-unsafe-member-access)",
    "export const or = (text: string | null) => (text ? 1 : 2);":
      "typescript(strict-boolean-expressions)",
    "export const kind = (of: 1 | 2) => { switch (of) { case 1: return 1; } };":
      "typescript(switch-exhaustiveness-check)",
  },
  "src/platform/config/a.ts": {
    "export const at = Date.now();": "eslint(no-restricted-properties)",
  },
  "src/client/a.ts": {
    "export const chance = Math.random();": "eslint(no-restricted-properties)",
  },
  "src/features/checkout/data/a.ts": {
    'export const count: number = "one";': "typescript(TS2322)",
  },
  "src/features/checkout/pages/a.js": {
    "undeclared();": "eslint(no-undef)",
    "close();": "eslint(no-undef)",
    "var twice = 1; var twice = 2;": "eslint(no-redeclare)",
  },
  "test/a.ts": { "export const one = { ...{ two: 2 } };": "till(no-literal-spread)" },
  "test/a.test.ts": {
    'describe("a", function () { this.timeout(60_000); });': "till(no-measured-test)",
    "const from = 1; export const tookMs = performance.now() - from;": "till(no-measured-test)",
    "const begun = 1; export const since = Date.now() - begun;": "till(no-measured-test)",
  },
  ".config/a.mjs": { "debugger;": "eslint(no-debugger)", "undeclared();": "eslint(no-undef)" },
};

/** Lines that their places may have. */
const allowed: Readonly<Record<string, string>> = {
  "src/b.ts": "export const at = new Date(1);",
  "src/kernel/clock.ts": "export const at = [Date.now(), new Date()];",
  "src/client/b.ts": 'export const at = [Date.now(), new Date(), URL.canParse("a")];',
  ".config/b.mjs": "console.log(process.argv);",
  "src/platform/config/b.ts": 'export const setting = process.env["PORT"];',
  "src/features/checkout/pages/b.js": "document.title = location.href;",
  "test/b.test.ts": "export const ago = [Date.now() - 60_000, AbortSignal.timeout(60_000)];",
  "test/lab/b.test.ts": "const from = 1; export const tookMs = performance.now() - from;",
  "test/b.ts": "console.log(Date.now(), new Date(), Math.random());",
};

describe("the lint rules", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "till-lint-"));
    for (const name of copied) cpSync(join(root, name), join(folder, name));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** Runs the command of package.json in a folder. */
  function lint(
    cwd: string,
    option: string,
  ): {
    readonly status: number | null;
    readonly stdout: string;
  } {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const [name = "", ...words] = scripts["lint"]?.split(" ") ?? [];
    const program = join(root, "node_modules", name, "bin", name);
    return spawnSync(process.execPath, [program, ...words, option], { cwd, encoding: "utf8" });
  }

  it("are applied to every source", () => {
    const checked = new Set(lint(root, "--debug=files").stdout.split("\n"));
    const sources = ["src", "test"]
      .flatMap((path) =>
        readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((name) =>
          join(path, name),
        ),
      )
      .filter(
        (name) =>
          /\.(ts|js|mjs|cjs)$/.test(name) && !unchecked.some((path) => name.startsWith(path)),
      );
    expect(sources.filter((name) => !checked.has(name))).to.deep.equal([]);
    expect(sources).to.have.length.above(1_000);
  });

  it("fail without their configuration", () => {
    const bare = mkdtempSync(join(folder, "bare-"));
    writeFileSync(join(bare, "a.ts"), "export {};\n");
    expect(lint(bare, "--quiet").status).to.equal(1);
    rmSync(bare, { recursive: true });
  });

  it("refuse a line where they hold, and allow it elsewhere", () => {
    const texts = { ...allowed };
    for (const [name, lines] of Object.entries(refused))
      texts[name] = Object.keys(lines).join("\n");
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), `${text}\n`);
    }
    // A configuration in a folder below is not read.
    writeFileSync(join(folder, "src/client/.oxlintrc.json"), '{"rules":{}}');
    const { status, stdout } = lint(folder, "--format=json");
    const { diagnostics } = JSON.parse(stdout) as {
      readonly diagnostics: readonly {
        readonly code: string;
        readonly filename: string;
        readonly labels: readonly { readonly span: { readonly line: number } }[];
      }[];
    };
    const found = new Set(
      diagnostics.map(({ code, filename, labels }) => {
        const line = (texts[filename] ?? "").split("\n")[(labels[0]?.span.line ?? 0) - 1];
        return `${filename}: ${String(line)} ${code}`;
      }),
    );
    const expected = Object.entries(refused).flatMap(([name, lines]) =>
      Object.entries(lines).map(([line, rule]) => `${name}: ${line} ${rule}`),
    );
    expect([...found]).to.include.members(expected);
    const places = [...found].filter((each) =>
      Object.keys(allowed).some((name) => each.startsWith(`${name}: `)),
    );
    expect(places).to.deep.equal([]);
    expect(status).to.equal(1);
  });
});
