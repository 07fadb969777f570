// A process of `npm run mutate` that runs tests against the instrumented sources: all of them once, to learn which tests
// reach which mutants, then the tests of one mutant at a time. Its parent ends it when a mutant makes it hang.
import fc from "fast-check";
import Mocha from "mocha";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export type Order =
  | { readonly kind: "cover" }
  | {
      readonly kind: "try";
      readonly mutant: number;
      /** The places of the tests to run, until one fails. */
      readonly rounds: readonly (readonly number[])[];
    };

/** A test, and the mutants that it reaches. */
export interface TestReach {
  /** The test's place among all tests of the files. */
  readonly place: number;
  readonly milliseconds: number;
  readonly mutants: readonly number[];
}

export type Answer =
  | { readonly kind: "loaded" }
  | {
      readonly kind: "covered";
      readonly tests: readonly TestReach[];
      readonly failures: readonly string[];
    }
  | {
      readonly kind: "tried";
      readonly outcome: "survived" | "killed" | "spoiled";
      /** The place of a test that fails without the mutant too. */
      readonly failed: number | null;
    };

/** For a busy machine, in milliseconds. The parent ends a process whose tests a mutant keeps waiting. */
const testTimeoutMs = 900_000;

/**
 * Tests that a mutant makes fail may leave servers and stores open. A process with a larger heap than this, in bytes,
 * ends after its answer, and its parent starts another one.
 */
const heapBytesMax = 1.5 * 1_024 ** 3;

const [activeAtLoad = "0", ...files] = process.argv.slice(2);
let active = Number(activeAtLoad);
let reached = new Set<number>();

Object.assign(globalThis, {
  __mutant(number: number): boolean {
    if (active === 0) reached.add(number);
    return number === active;
  },
});

// That a property fails is enough: to search for the smallest example takes longer than all other tests.
fc.configureGlobal({ endOnFailure: true });
process.on("disconnect", () => process.exit());

// Each run of mocha adds its own listeners to the process.
process.setMaxListeners(0);

const failures: string[] = [];
const reaches: TestReach[] = [];
const places = new Map<Mocha.Test, number>();
let failedTest: Mocha.Test | null = null;

/** A reporter that notes failures, and which mutants each test reaches; hooks reach theirs for all tests of a suite. */
// oxlint-disable-next-line typescript/no-extraneous-class -- Mocha constructs its reporter.
class Recorder {
  constructor(runner: Mocha.Runner) {
    let byHooks = new Set<number>();
    const takeHooks = () => {
      for (const number of reached) byHooks.add(number);
      reached = new Set();
    };
    runner.on("suite", takeHooks);
    runner.on("test", takeHooks);
    runner.on("test end", (test) => {
      const place = places.get(test);
      // A test that fails without a mutant tells nothing about mutants.
      if (place === undefined || active !== 0 || test.state !== "passed") return;
      const mutants = [...new Set([...reached, ...byHooks])];
      reaches.push({ place, milliseconds: test.duration ?? 0, mutants });
    });
    runner.on("suite end", (suite) => {
      if (suite.parent?.root === true) byHooks = new Set();
    });
    runner.on("fail", (test, error: unknown) => {
      failedTest = test;
      failures.push(
        `${test.fullTitle()}: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  }
}

const mocha = new Mocha({ reporter: Recorder as never, timeout: testTimeoutMs });
mocha.cleanReferencesAfterRun(false);
// Mocha itself would `require` the files, and what the sources import while they run would be a second copy of the modules.
for (const file of files) {
  mocha.suite.emit("pre-require", globalThis, file, mocha);
  await import(pathToFileURL(resolve(file)).href);
}
reached.clear();

interface Branch {
  readonly suite: Mocha.Suite;
  readonly tests: readonly Mocha.Test[];
  readonly branches: readonly Branch[];
}

const root = branchOf(mocha.suite);

function branchOf(suite: Mocha.Suite): Branch {
  for (const test of suite.tests) places.set(test, places.size);
  return { suite, tests: [...suite.tests], branches: suite.suites.map(branchOf) };
}

/** Leaves only the chosen tests in the suites; gives whether there are any. */
function choose(
  { suite, tests, branches }: Branch,
  isChosen: (test: Mocha.Test) => boolean,
): boolean {
  suite.tests = tests.filter(isChosen);
  suite.suites = branches
    .filter((branch) => choose(branch, isChosen))
    .map((branch) => branch.suite);
  return suite.tests.length > 0 || suite.suites.length > 0;
}

/** Runs the chosen tests with a mutant; 0 is none. Gives whether all of them pass. */
async function passes(mutant: number, isChosen: (test: Mocha.Test) => boolean): Promise<boolean> {
  choose(root, isChosen);
  failures.length = 0;
  active = mutant;
  await new Promise((resolve) => mocha.run(resolve));
  active = Number(activeAtLoad);
  return failures.length === 0;
}

async function obey(order: Order): Promise<Answer> {
  if (order.kind === "cover") {
    await passes(0, (test) => !test.fullTitle().includes(" on postgres"));
    return { kind: "covered", tests: reaches, failures };
  }
  const { mutant, rounds } = order;
  mocha.bail(true);
  for (const round of rounds) {
    const chosen = new Set(round);
    if (await passes(mutant, (test) => chosen.has(places.get(test) ?? -1))) continue;
    // A hook is none of the tests.
    const failed = (failedTest === null ? undefined : places.get(failedTest)) ?? round[0] ?? null;
    const isSound = mutant === Number(activeAtLoad) || (await isSoundAfter(round));
    if (isSound) return { kind: "tried", outcome: "killed", failed: null };
    return { kind: "tried", outcome: "spoiled", failed };
  }
  return { kind: "tried", outcome: "survived", failed: null };
}

/** Whether the test that failed passes without the mutant, which may have left something behind in this process. */
async function isSoundAfter(round: readonly number[]): Promise<boolean> {
  const failed = failedTest;
  return passes(0, (test) =>
    failed !== null && places.has(failed) ? test === failed : places.get(test) === round[0],
  );
}

function say(answer: Answer): void {
  process.send?.(answer, () => {
    if (process.memoryUsage().heapUsed > heapBytesMax) process.exit();
  });
}

process.on("message", (order: Order) => {
  void obey(order).then(say);
});
say({ kind: "loaded" });
