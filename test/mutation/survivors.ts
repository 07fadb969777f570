import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";
import type { Answer, Order, TestReach } from "./worker.ts";

/** Processes at a time. */
const lanes = availableParallelism();
/** The tests of one mutant, the quickest first, take at most this long together in each stage, in milliseconds. */
const testsOfMutantMs = 60_000;
/** The quickest tests, which take at most this long together, run before the others: most mutants end there. In milliseconds. */
const firstTestsMs = 1_000;
/** A mutant that hangs counts as killed: the time that its tests get, as a base and as a multiple of their usual time. */
const slackMs = 20_000;
const slackFactor = 4;
/** To load the tests and all that they import, in milliseconds. */
const loadMs = 90_000;

export interface Tried {
  /** The mutants that the tests let live, those that no test reaches among them. */
  readonly survivors: readonly Mutant[];
  /** Tests that fail without a mutant. They were not used. */
  readonly failures: readonly string[];
}

type Outcome = "survived" | "killed" | "hung" | "spoiled";

interface Attempt {
  readonly outcome: Outcome;
  /** The test that failed with the mutant and without it; null if another outcome is known, or the worker ended. */
  readonly failed: number | null;
}

/** Runs test files of a copy of the project against mutants of its sources. */
export async function tryMutants(
  copy: string,
  files: readonly string[],
  mutants: readonly Mutant[],
): Promise<Tried> {
  if (mutants.length === 0 || files.length === 0) return { survivors: mutants, failures: [] };
  const first = await startWorker(copy, files, 0);
  const { tests, failures } = await ask(first, { kind: "cover" }, null, "covered");
  endWorker(first);

  const survivors: Mutant[] = [];
  const waiting = [...mutants];
  /** Tests that fail without those before them, with or without a mutant: they prove nothing. */
  const dependent = new Set<number>();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      let worker: ChildProcess | null = null;
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        let outcome: Outcome = "spoiled";
        while (outcome === "spoiled") {
          const reaching = testsOf(mutant, tests).filter(({ place }) => !dependent.has(place));
          if (reaching.length === 0) {
            outcome = "survived";
            break;
          }
          if (mutant.isStatic || hasEnded(worker)) worker = endWorker(worker);
          const isFresh: boolean = worker === null;
          worker ??= await startFor(copy, files, mutant);
          const tried: Attempt =
            worker === null
              ? { outcome: "hung", failed: null }
              : await attempt(worker, mutant.number, reaching);
          outcome = tried.outcome;
          if (outcome !== "survived" && outcome !== "killed") worker = endWorker(worker);
          if (mutant.isStatic) worker = endWorker(worker);
          // An earlier mutant may have spoiled an older worker: the next one tells.
          if (outcome !== "spoiled" || !isFresh) continue;
          const failed = reaching.find(({ place }) => place === tried.failed);
          if (failed === undefined || (await passesAlone(copy, files, failed))) outcome = "killed";
          else dependent.add(failed.place);
        }
        if (outcome === "survived") survivors.push(mutant);
      }
      endWorker(worker);
    }),
  );
  survivors.sort((one, other) => one.number - other.number);
  return { survivors, failures };
}

/** Starts a worker for a mutant; null if a mutant that is active while the sources load keeps them from it. */
async function startFor(
  copy: string,
  files: readonly string[],
  { isStatic, number }: Mutant,
): Promise<ChildProcess | null> {
  const started = startWorker(copy, files, isStatic ? number : 0);
  return isStatic ? started.catch(() => null) : started;
}

/** Whether a test passes without a mutant in a process of its own. */
async function passesAlone(
  copy: string,
  files: readonly string[],
  test: TestReach,
): Promise<boolean> {
  const worker = await startWorker(copy, files, 0);
  const { outcome } = await attempt(worker, 0, [test]);
  endWorker(worker);
  return outcome === "survived";
}

/** Runs tests with a mutant; 0 is none. */
async function attempt(
  worker: ChildProcess,
  mutant: number,
  tests: readonly TestReach[],
): Promise<Attempt> {
  const order: Order = { kind: "try", mutant, rounds: roundsOf(tests) };
  const usualMs = tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  try {
    return await ask(worker, order, slackMs + slackFactor * usualMs, "tried");
  } catch {
    // The worker may have ended because of earlier mutants.
    return { outcome: hasEnded(worker) ? "spoiled" : "hung", failed: null };
  }
}

/** The tests that a mutant may make fail, the quickest first, since one that fails is enough. */
function testsOf({ number, isStatic }: Mutant, tests: readonly TestReach[]): TestReach[] {
  const reaching = tests
    .filter(({ mutants }) => isStatic || mutants.includes(number))
    .sort((one, other) => one.milliseconds - other.milliseconds);
  let sum = 0;
  return reaching.filter(({ milliseconds }, place) => {
    sum += milliseconds;
    return place === 0 || sum <= testsOfMutantMs;
  });
}

/** The places of tests that are sorted by their time: the quickest ones, then the others. */
function roundsOf(tests: readonly TestReach[]): readonly (readonly number[])[] {
  let sum = 0;
  const quick = tests.filter(({ milliseconds }) => (sum += milliseconds) <= firstTestsMs).length;
  return [tests.slice(0, quick), tests.slice(quick)]
    .filter((round) => round.length > 0)
    .map((round) => round.map(({ place }) => place));
}

async function startWorker(
  copy: string,
  files: readonly string[],
  activeAtLoad: number,
): Promise<ChildProcess> {
  const child = fork(join(copy, "test/mutation/worker.ts"), [String(activeAtLoad), ...files], {
    cwd: copy,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Its tests run on SQLite alone.
    env: { ...process.env, TILL_TEST_TURNS: "off", TMPDIR: join(copy, "tmp") },
  });
  // An order to a worker that has just ended; its exit tells.
  child.on("error", () => undefined);
  try {
    await answerOf(child, loadMs, "loaded");
  } catch (error) {
    endWorker(child);
    throw error;
  }
  return child;
}

/** Whether a process has ended: with an exit code, or by a signal, as one without memory does. */
function hasEnded(worker: ChildProcess | null): boolean {
  return worker !== null && (worker.exitCode !== null || worker.signalCode !== null);
}

function endWorker(worker: ChildProcess | null): null {
  worker?.kill("SIGKILL");
  return null;
}

async function ask<Kind extends Answer["kind"]>(
  worker: ChildProcess,
  order: Order,
  mostMs: number | null,
  kind: Kind,
): Promise<Extract<Answer, { kind: Kind }>> {
  worker.send(order);
  return answerOf(worker, mostMs, kind);
}

/** Rejects when the worker ends, or has not answered in time. */
async function answerOf<Kind extends Answer["kind"]>(
  worker: ChildProcess,
  mostMs: number | null,
  kind: Kind,
): Promise<Extract<Answer, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const timer = mostMs === null ? null : setTimeout(fail, mostMs);
    function settle(): void {
      if (timer !== null) clearTimeout(timer);
      worker.off("message", hear);
      worker.off("exit", fail);
    }
    function hear(answer: Answer): void {
      settle();
      if (answer.kind === kind) resolve(answer as Extract<Answer, { kind: Kind }>);
      else reject(new Error(`A worker answered ${answer.kind}.`));
    }
    function fail(): void {
      settle();
      reject(new Error("A worker has ended, or did not answer in time."));
    }
    worker.on("message", hear);
    worker.on("exit", fail);
  });
}
