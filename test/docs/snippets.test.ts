// The programs of the reference: those in curl, Python and PHP are run as printed, except for the ids of the recorded merchant.
// The TypeScript programs are compiled by test/clients/packed.test.ts.
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { allOperations } from "../../src/features/index.ts";
import { anyServed, approvedMerchant } from "../support/app.ts";

const folder = new URL("../../docs/api/", import.meta.url);
const text = readdirSync(folder)
  .map((name) => readFileSync(new URL(name, folder), "utf8"))
  .join("\n");

/** The program of an operation in a language of Markdown. */
function program(id: string, fence: string): string {
  const section = text.split('<a id="').find((part) => part.startsWith(`${id}"`)) ?? "";
  const found = new RegExp(`\`\`\`${fence}\n([^]+?)\n\`\`\``).exec(section)?.[1];
  if (found === undefined) throw new Error(`${id} has no example in ${fence}`);
  return found;
}

/** The flag by which each runs a program. */
const flags: Readonly<Record<string, string>> = { sh: "-c", python3: "-c", php: "-r" };
const hasPhp = spawnSync("php", ["--version"]).status === 0;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("the programs of the reference", () => {
  it("exist for every operation in four languages, of which shells and Python read theirs", () => {
    const all = (fence: string) => allOperations.map(({ id }) => program(id, fence));
    expect(all("ts")).to.have.length(all("php").length);
    const shell = spawnSync("sh", ["-n"], { input: all("sh").join("\n"), encoding: "utf8" });
    expect(shell.stderr).to.equal("");
    if (!hasPython) return;
    const parse = "import ast, json, sys; [ast.parse(each) for each in json.load(sys.stdin)]";
    const python = spawnSync("python3", ["-c", parse], {
      input: JSON.stringify(all("python")),
      encoding: "utf8",
    });
    expect(python.stderr).to.equal("");
  });
});

anyServed(
  "the programs of the reference",
  (served) => {
    let env: Record<string, string> = {};
    let organizationId = "";

    before(async () => {
      const merchant = await approvedMerchant(served.app);
      ({ organizationId } = merchant);
      env = { PATH: process.env["PATH"] ?? "", TILL: served.app.url, KEY: merchant.key };
    });

    /** Runs a program beside this process, which serves it. */
    async function run(command: string, id: string, fence: string, key = env["KEY"]) {
      const code = program(id, fence).replaceAll(/org_[0-9a-z]{26}/g, organizationId);
      const child = spawn(command, [flags[command] ?? "", code.replace(/^<\?php/, "")], {
        env: { ...env, KEY: key },
        stdio: ["ignore", "pipe", "pipe"],
      });
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
      child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
      const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
      return { status, output };
    }

    const runners = [
      ["sh", "sh"],
      ...(hasPython ? [["python3", "python"]] : []),
      ...(hasPhp ? [["php", "php"]] : []),
    ];
    for (const [command = "", fence = ""] of runners) {
      it(`call an instance as printed, run by ${command}`, async () => {
        for (const id of ["getMe", "createCustomer", "listCustomers", "createApiKey"]) {
          const { status, output } = await run(command, id, fence);
          expect(status, `${id}: ${output}`).to.equal(0);
          expect(output, id).to.match(/org_|Bob Miller|key_/);
        }
        // A refusal is not taken for an answer.
        const { status, output } = await run(command, "getMe", fence, "till_live_wrong");
        expect(status, output).not.to.equal(0);
        expect(output).to.contain("401");
      });
    }
  },
  { background: false },
);
