// The CPU time of commands that only read, as multiples of that of an empty Node process: both grow alike on a busy
// machine. A command that loads the whole program takes more than eight times an empty process.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { builtProgram } from "../support/programs/built.ts";
import { init } from "../support/programs/till.ts";

/** The aim is 4; a busy machine must not make this fail for nothing. */
const ratioMax = 5.5;
const tries = 4;

const commands = [
  ...["org list", "org show ORG", "user list", "key list", "wallet list", "invoice list"],
  ...["queue list", "audit list", "ops status"],
];

describe("the start of commands that only read", function () {
  this.timeout(240_000);
  let folder = "";
  let organizationId = "";
  let empty = Infinity;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till start "));
    const { stdout } = await init([], { env: { TILL_DATA_DIR: folder, TILL_RATES: "off" } });
    organizationId = (JSON.parse(stdout) as { organization: { id: string } }).organization.id;
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a program and returns its CPU time in milliseconds. */
  function cpuTime(words: readonly string[]): number {
    const { status, stderr } = spawnSync(
      "bash",
      [
        "-c",
        'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null 2>&1',
        "bash",
        process.execPath,
        ...words,
      ],
      {
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"] ?? "",
          TILL_DATA_DIR: folder,
          TILL_RATES: "off",
          // The aim is that of a first run too.
          NODE_DISABLE_COMPILE_CACHE: "1",
        },
      },
    );
    // 7: no server has recorded the status of the installation.
    if (status !== 0 && status !== 7) throw new Error(`${words.join(" ")}: ${stderr}`);
    const [user = 0, system = 0] = stderr.trim().split(" ").map(Number);
    return (user + system) * 1_000;
  }

  /** Returns a command's ratio, the least of a few tries; the first that is low enough suffices. */
  function ratioOf(command: string): number {
    const words = command.replace("ORG", organizationId).split(" ");
    let least = Infinity;
    for (let run = 0; run < tries; run += 1) {
      empty = Math.min(empty, cpuTime(["--eval", "0"]));
      least = Math.min(least, cpuTime([builtProgram(), ...words]));
      if (least / empty < ratioMax) break;
    }
    return least / empty;
  }

  it("costs little more than an empty Node process", () => {
    const slow = commands
      .map((command) => ({ command, ratio: ratioOf(command) }))
      .filter(({ ratio }) => ratio >= ratioMax)
      .map(({ command, ratio }) => `${command}: ${ratio.toFixed(1)} × an empty process`);
    expect(slow).to.deep.equal([]);
  });
});
