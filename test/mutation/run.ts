// npm run mutate [-- AREA|FILE ...]: changes the sources that decide about money in one small place at a time and lists
// the changes that no test notices. Fails when fewer than the target are noticed, when one that is not has no excuse in
// excused.yaml, and when an excuse is no longer needed.
import { fork, type ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { areas, filesAt, readExcuses, root, type Area, type Excuse } from "./areas.ts";
import { instrument, type Mutant } from "./mutants.ts";
import type { Answer, Order, TestReach } from "./worker.ts";

/** Percent of all mutants that tests must notice. */
const targetPercent = 95;
/** Processes at a time. */
const lanes = Math.max(1, availableParallelism() - 1);
/** The tests of one mutant, the quickest first, take at most this long together in each stage, in milliseconds. */
const testsOfMutantMs = 20_000;
/** A mutant that hangs counts as killed: the time that its tests get, as a base and as a multiple of their usual time. */
const slackMs = 10_000;
const slackFactor = 4;
/** To load the tests and all that they import, in milliseconds. */
const loadMs = 90_000;

const wanted = process.argv.slice(2);
const excuses = readExcuses();
const copy = mkdtempSync(join(tmpdir(), "till-mutants-"));
process.once("exit", () => {
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
for (const name of ["src", "test", "config", "docs", "bin", "package.json", ".config"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

const everyMutant: Mutant[] = [];
const everySurvivor: Mutant[] = [];
for (const area of areas) {
  const mutants = writeMutants(area, everyMutant.length + 1);
  if (mutants.length === 0) continue;
  let survivors: readonly Mutant[] = mutants;
  for (const stage of area.stages) survivors = await survivorsOf(stage, survivors);
  report(mutants, survivors);
  everyMutant.push(...mutants);
  everySurvivor.push(...survivors);
}
judge();

/** Writes the instrumented sources of an area, or those of them that are wanted, into the copy. */
function writeMutants({ name, sources }: Area, firstNumber: number): readonly Mutant[] {
  const mutants: Mutant[] = [];
  for (const file of sources.flatMap((path) => filesAt(path, ".ts"))) {
    if (wanted.length > 0 && !wanted.some((part) => part === name || file.includes(part))) continue;
    const source = readFileSync(join(root, file), "utf8");
    const instrumented = instrument(file, source, firstNumber + mutants.length);
    writeFileSync(join(copy, file), instrumented.text);
    mutants.push(...instrumented.mutants);
  }
  return mutants;
}

/** The mutants that the tests of a stage let live, those that no test reaches among them. */
async function survivorsOf(
  stage: readonly string[],
  mutants: readonly Mutant[],
): Promise<readonly Mutant[]> {
  if (mutants.length === 0) return [];
  const files = stage.flatMap((path) => filesAt(path, ".test.ts"));
  const first = await startWorker(files, 0);
  const { tests, failures } = await ask(first, { kind: "cover" }, null, "covered");
  first.kill("SIGKILL");
  if (failures.length > 0) throw new Error(`Tests fail without a mutant: ${failures.join("; ")}`);

  const survivors: Mutant[] = [];
  const waiting = [...mutants];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      let worker: ChildProcess | null = null;
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const reaching = testsOf(mutant, tests);
        let outcome = reaching.length === 0 ? "survived" : "spoiled";
        // A worker that an earlier mutant spoiled is replaced once; a fresh one that fails again is the mutant's doing.
        for (let tries = 0; tries < 2 && outcome === "spoiled"; tries += 1) {
          if (mutant.isStatic || tries > 0) worker = endWorker(worker);
          worker ??= await startWorker(files, mutant.isStatic ? mutant.number : 0).catch(
            () => null,
          );
          outcome = worker === null ? "hung" : await attempt(worker, mutant, reaching);
          if (outcome === "hung" || mutant.isStatic) worker = endWorker(worker);
        }
        if (outcome === "survived") survivors.push(mutant);
      }
      endWorker(worker);
    }),
  );
  return survivors.sort((one, other) => one.number - other.number);
}

async function attempt(
  worker: ChildProcess,
  mutant: Mutant,
  tests: readonly TestReach[],
): Promise<string> {
  const order: Order = {
    kind: "try",
    mutant: mutant.number,
    tests: tests.map(({ place }) => place),
  };
  const usualMs = tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const answer = await ask(worker, order, slackMs + slackFactor * usualMs, "tried").catch(
    () => null,
  );
  return answer?.outcome ?? "hung";
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

async function startWorker(files: readonly string[], activeAtLoad: number): Promise<ChildProcess> {
  const child = fork(join(copy, "test/mutation/worker.ts"), [String(activeAtLoad), ...files], {
    cwd: copy,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Its tests run on SQLite alone.
    env: { ...process.env, TILL_TEST_TURNS: "off" },
  });
  try {
    await answerOf(child, loadMs, "loaded");
  } catch (error) {
    endWorker(child);
    throw error;
  }
  return child;
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

/** Prints the figures of an area's files, and the survivors that nothing excuses. */
function report(mutants: readonly Mutant[], survivors: readonly Mutant[]): void {
  for (const file of new Set(mutants.map((mutant) => mutant.file))) {
    const all = mutants.filter((mutant) => mutant.file === file).length;
    const killed = all - survivors.filter((mutant) => mutant.file === file).length;
    const percent = ((100 * killed) / all).toFixed(1);
    console.log(`${percent.padStart(5)} % (${String(killed)} of ${String(all)}) ${file}`);
  }
  for (const mutant of survivors) {
    if (excuses.some((excuse) => isExcuseOf(excuse, mutant))) continue;
    fail(`${mutant.file}:${String(mutant.line)} survives, in ${JSON.stringify(mutant.within)}:
  - ${mutant.original.replace(/\s+/g, " ")}
  + ${mutant.mutated.replace(/\s+/g, " ")}`);
  }
}

/** Prints which excuses are not needed and how many mutants were killed, and sets the exit code. */
function judge(): void {
  const files = new Set(everyMutant.map(({ file }) => file));
  for (const excuse of excuses) {
    if (wanted.length > 0 && !files.has(excuse.file)) continue;
    if (everySurvivor.some((mutant) => isExcuseOf(excuse, mutant))) continue;
    const isThere = everyMutant.some((mutant) => isExcuseOf(excuse, mutant));
    fail(
      `excused.yaml: the mutant is ${isThere ? "killed" : "not there"}: ${excuse.file}, ${excuse.original}`,
    );
  }
  const killed = everyMutant.length - everySurvivor.length;
  const percent = (100 * killed) / everyMutant.length;
  const figures = `${String(killed)} of ${String(everyMutant.length)} mutants killed (${percent.toFixed(1)} %)`;
  if (percent >= targetPercent) console.log(figures);
  else fail(`${figures}, fewer than ${String(targetPercent)} %`);
}

function isExcuseOf(excuse: Excuse, { file, within, original, mutated }: Mutant): boolean {
  return (
    excuse.file === file &&
    excuse.within === within &&
    excuse.original === original &&
    excuse.mutated === mutated
  );
}

function fail(message: string): void {
  process.exitCode = 1;
  console.log(message);
}
