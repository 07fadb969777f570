// The code that commands that read load: their start takes a few times an empty Node process, as docs/performance.md
// measures it, because they do not load the whole program.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { commandLists } from "../../../src/cli/features.ts";
import type { Command } from "../../../src/http/declare/command.ts";
import { builtProgram } from "../../support/programs/built.ts";
import { init } from "../../support/programs/till.ts";

/** The most code that such a command loads, in bytes of source; the whole program has more than twice as much. */
const loadedBytesMax = 4_500_000;
/** The most files that it loads, each of which costs time too. */
const loadedFilesMax = 320;
/** The most that the help loads. */
const helpBytesMax = 300_000;

/** Commands of no feature that only read. */
const ownCommands = ["ops status", "config show"];

/** The arguments of commands that need some. Starting is all that is measured: other records need not exist. */
const argumentOf: Readonly<Record<string, string>> = {
  organizationId: "ORGANIZATION",
  of: "wallets",
  checkout: "chk_1",
  invoiceId: "inv_1",
  paymentId: "pay_1",
  refundId: "rfd_1",
  transferId: "trf_1",
  webhookDeliveryId: "whd_1",
};

const flagsOf: Readonly<Record<string, readonly string[]>> = {
  "analytics top": ["--organization", "ORGANIZATION"],
  "analytics report": ["--html", "report.html", "--yes"],
  "chain audit": ["--network", "sandbox"],
};

async function readingCommands(): Promise<readonly (readonly string[])[]> {
  const found: (readonly string[])[] = ownCommands.map((name) => name.split(" "));
  for (const load of Object.values(commandLists)) {
    const commands: readonly Command[] = await load();
    for (const { name, effect, arguments: declared } of commands) {
      if (effect !== "read") continue;
      const given = declared.flatMap((one) => (one.isOptional === true ? [] : [one.name]));
      const words = given.map((each) => argumentOf[each] ?? `no example of ${each}`);
      found.push([...name.split(" "), ...words, ...(flagsOf[name] ?? [])]);
    }
  }
  return found;
}

/** The exit codes of commands that have read: the record does not exist, and no server has written anything yet. */
const codes = [0, 5, 6, 7];

describe("the start of commands that only read", () => {
  let folder = "";
  let organizationId = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till start "));
    const env = { TILL_DATA_DIR: folder, TILL_RATES: "off", TILL_NETWORKS: "sandbox" };
    const { stdout } = await init([], { env });
    organizationId = (JSON.parse(stdout) as { organization: { id: string } }).organization.id;
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command, and returns the sizes of the files of code that it loaded, in bytes. */
  function loadedBy(words: readonly string[], allowed: readonly number[]): readonly number[] {
    const given = words.map((word) => (word === "ORGANIZATION" ? organizationId : word));
    const notes = join(folder, "notes");
    mkdirSync(notes);
    const env = {
      PATH: process.env["PATH"] ?? "",
      TILL_DATA_DIR: folder,
      TILL_RATES: "off",
      TILL_NETWORKS: "sandbox",
      // Node writes what it has loaded into this folder.
      NODE_V8_COVERAGE: notes,
    };
    const { status, stderr } = spawnSync(process.execPath, [builtProgram(), ...given], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    expect(allowed, `${words.join(" ")}: ${stderr}`).to.include(status);
    const urls = readdirSync(notes).flatMap((name) => {
      const noted = JSON.parse(readFileSync(join(notes, name), "utf8")) as {
        readonly result: readonly { readonly url: string }[];
      };
      return noted.result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
    });
    rmSync(notes, { recursive: true });
    return [...new Set(urls)].map((url) => statSync(fileURLToPath(url)).size);
  }
  const sumOf = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0);

  it("loads a small part of the program", async () => {
    const loaded = (await readingCommands()).map((words) => ({
      words,
      sizes: loadedBy(words, codes),
    }));
    const large = loaded
      .filter(({ sizes }) => sumOf(sizes) > loadedBytesMax || sizes.length > loadedFilesMax)
      .map(({ words, sizes }) => {
        return `${words.join(" ")}: ${String(sizes.length)} files with ${String(sumOf(sizes))} bytes`;
      });
    expect(large).to.deep.equal([]);
    const help = loadedBy(["org", "list", "--help"], [0]);
    expect(sumOf(help)).to.be.below(helpBytesMax);
    // The help loads something, which shows that what is loaded is counted, and the program is much larger.
    expect(sumOf(help)).to.be.above(0);
    const program = join(dirname(builtProgram()), "../dist/program");
    const whole = readdirSync(program).map((name) => statSync(join(program, name)).size);
    const largest = Math.max(...loaded.map(({ sizes }) => sumOf(sizes)));
    expect(sumOf(whole)).to.be.above(2 * largest);
  });
});
