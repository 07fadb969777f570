// npm run simulate -- --seed N --steps M: plays one history, or many from a seed on, and shrinks the first that fails.
import { parseArgs } from "node:util";
import { linkLimits } from "../../src/features/invoices/issuing/link-limits.ts";
import { spawn } from "node:child_process";
import { play, shrink, told, type PlayOptions } from "./play.ts";
import { aimedShare, waitingShare, type MeasuredShare } from "./measured.ts";
import { openStage } from "./stage.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "30" },
    /** So many histories, of this seed and those after it. */
    histories: { type: "string", default: "1" },
    /** The places of the steps that are played. */
    only: { type: "string" },
    without: { type: "string", multiple: true, default: [] },
    /** After every step, or at the end alone: seven times as many in the same time. */
    verify: { type: "string", default: "steps" },
    /** Goes on after one that failed, and tells of each in one line. */
    all: { type: "boolean", default: false },
    /** Ends with the first that failed, and tells of it in one line. */
    first: { type: "boolean", default: false },
    lanes: { type: "string", default: "1" },
    /** Prints the measured shares of payments instead of playing histories. */
    measure: { type: "boolean", default: false },
    seconds: { type: "string", default: "100000" },
  },
});

const first = Number(values.seed);
const histories = Number(values.histories);
const steps = Number(values.steps);
const lanes = Number(values.lanes);
const options: PlayOptions = {
  verifies: values.verify === "end" ? "end" : "steps",
  without: values.without,
};

async function playAll(): Promise<number> {
  const stage = await openStage();
  const begun = performance.now();
  const cpu = process.cpuUsage();
  let failed = 0;
  let played = 0;
  const only = values.only === "none" ? [] : values.only?.split(",").map(Number);
  for (let seed = first; seed < first + histories; seed += 1) {
    if (performance.now() - begun > Number(values.seconds) * 1_000) break;
    if (values.all && played > 0 && played % 100 === 0) {
      console.log(`${String(played)} before seed ${String(seed)}, ${String(failed)} failed`);
    }
    played += 1;
    const history = { seed, steps, only };
    const fault = await play(stage, history, options);
    if (fault === null) continue;
    failed += 1;
    if (values.all || values.first) {
      console.log(`${String(seed)}: ${fault.split("\n")[0] ?? ""}`);
      if (values.first) break;
      continue;
    }
    const less = await shrink(stage, history, options);
    console.log(`${fault}\n\nshrunk to:\n${told(less.history, less.fault, options)}`);
    break;
  }
  const { user, system } = process.cpuUsage(cpu);
  const each = Math.round((user + system) / 1_000 / played);
  console.log(
    `${String(played)} histories from seed ${String(first)}, ${String(failed)} failed; ` +
      `${String(each)} ms of CPU each, ${String(Math.round((performance.now() - begun) / 1_000))} s`,
  );
  await stage.dispose();
  return failed;
}

/** The same in several processes, each with its part of the seeds. */
async function inLanes(): Promise<number> {
  const size = Math.ceil(histories / lanes);
  const passed = process.argv.slice(2);
  const codes = await Promise.all(
    Array.from({ length: lanes }, (_, lane) => {
      const own = [`--seed=${String(first + lane * size)}`, `--histories=${String(size)}`];
      const args = [...process.execArgv, import.meta.filename, ...passed, ...own, "--lanes=1"];
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      return new Promise<number>((resolve) => {
        child.once("exit", (code) => {
          resolve(code ?? 1);
        });
      });
    }),
  );
  return codes.filter((code) => code !== 0).length;
}

/** Measures what a shop and its payers meet at a shared address; as often as there are histories. */
async function measure(): Promise<number> {
  const stage = await openStage();
  for (let seed = first; seed < first + histories; seed += 1) {
    const waiting = await waitingShare(stage, { seed, orders: 1_000, open: 20 });
    print("honest exact payments that wait, with 20 open orders of a price list", waiting);
    const aimed = await aimedShare(stage, {
      seed,
      rounds: 10,
      entered: linkLimits.link,
      trials: 200,
    });
    print(
      "payments of about 24.00 credited to a stranger who entered 24 as often as a link admits",
      aimed,
    );
  }
  await stage.dispose();
  return 0;
}

function print(what: string, { some, all }: MeasuredShare): void {
  const percent = ((some / all) * 100).toFixed(2);
  console.log(`${what}: ${String(some)} of ${String(all)}, ${percent} %`);
}

if (values.measure) process.exitCode = await measure();
else process.exitCode = (await (lanes > 1 ? inLanes() : playAll())) === 0 ? 0 : 1;
