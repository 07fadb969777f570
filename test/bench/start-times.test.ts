// The CPU time of commands that read, as multiples of that of an empty Node process: both grow alike on a busy machine. A
// command that starts the whole program takes some thirty times an empty process.
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { forEachService } from "../../src/cli/features.ts";
import { cpuMsOfProgram } from "../support/cpu-time.ts";
import { builtProgram } from "../support/programs/built.ts";
import { init } from "../support/programs/till.ts";

/** The aim is 4, which nearly all commands reach; drawing charts takes 5. A busy machine adds up to 1. */
const ratioMax = 6;
/** How often a command runs that seems to be slow. */
const tries = 5;

/** Commands that are declared to read, and also write: an audit entry of the export, the seals of the audit log. */
const writing = ["invoice export", "payments export", "refund export", "billing export"].concat(
  "audit verify",
);

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
  delivery: "whd_1",
};

const flagsOf: Readonly<Record<string, readonly string[]>> = {
  "analytics top": ["--organization", "ORGANIZATION"],
  "analytics report": ["--html", "report.html", "--yes"],
  "chain audit": ["--network", "sandbox"],
};

function readingCommands(): readonly (readonly string[])[] {
  const found: (readonly string[])[] = ownCommands.map((name) => name.split(" "));
  forEachService((commands) => {
    for (const { name, effect, arguments: declared } of commands) {
      if (effect !== "read" || writing.includes(name)) continue;
      const given = declared.flatMap((one) => (one.isOptional === true ? [] : [one.name]));
      const words = given.map((each) => argumentOf[each] ?? `no example of ${each}`);
      found.push([...name.split(" "), ...words, ...(flagsOf[name] ?? [])]);
    }
  });
  return found;
}

/** The exit codes of commands that have read: the record does not exist, and no server has written anything yet. */
const codes = [0, 5, 6, 7];

// Notes about branches take time that the program itself does not.
const measured = process.env["COVERAGE_NOTES"] === undefined ? describe : () => undefined;

measured("the start of commands that only read", () => {
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

  /** Runs a program and returns its CPU time in milliseconds, of all its threads. */
  function cpuTime(words: readonly string[], allowed: readonly number[]): number {
    const given = words.map((word) => (word === "ORGANIZATION" ? organizationId : word));
    const env = {
      PATH: process.env["PATH"] ?? "",
      TILL_DATA_DIR: folder,
      TILL_RATES: "off",
      TILL_NETWORKS: "sandbox",
      // The aim is that of a first run too.
      NODE_DISABLE_COMPILE_CACHE: "1",
    };
    return cpuMsOfProgram(given, { cwd: folder, env, allowed });
  }

  it("costs little more than an empty Node process", () => {
    const commands = readingCommands();
    const empty: number[] = [];
    const least = commands.map(() => Infinity);
    // The median of empty processes, because now and then one counts as having taken no time.
    const ratioOf = (place: number) =>
      (least[place] ?? Infinity) / (empty.toSorted((a, b) => a - b)[empty.length >> 1] ?? 0);
    for (let run = 0; run < tries; run += 1) {
      for (const [place, words] of commands.entries()) {
        if (run > 0 && ratioOf(place) < ratioMax) continue;
        if (place % 3 === 0 || run > 0) empty.push(cpuTime(["--eval", "0"], [0]));
        least[place] = Math.min(least[place] ?? 0, cpuTime([builtProgram(), ...words], codes));
      }
    }
    const slow = commands
      .map((words, place) => ({ words, ratio: ratioOf(place) }))
      .filter(({ ratio }) => ratio >= ratioMax)
      .map(({ words, ratio }) => `${words.join(" ")}: ${ratio.toFixed(1)} × an empty process`);
    expect(slow).to.deep.equal([]);
  });
});
