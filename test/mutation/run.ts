// npm run mutate [-- AREA|FILE ...]: changes the sources that decide about money in one small place at a time and lists
// the changes that no test notices. Fails when fewer than the target are noticed, when one that is not has no excuse in
// excused.yaml, and when an excuse is no longer needed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { areas, filesAt, isExcuseOf, readExcuses, root, type Area } from "./areas.ts";
import { copyProject } from "./copy.ts";
import { testsAt } from "./draw.ts";
import { describeSurvivor, instrument, type Mutant } from "./mutants.ts";
import { tryMutants } from "./survivors.ts";

/** Percent of all mutants that tests must notice. */
const targetPercent = 95;
const wanted = process.argv.slice(2);
const excuses = readExcuses();
const copy = copyProject();

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

/** The mutants that the tests of a stage let live. */
async function survivorsOf(
  stage: readonly string[],
  mutants: readonly Mutant[],
): Promise<readonly Mutant[]> {
  const files = stage.flatMap(testsAt);
  const { survivors, failures } = await tryMutants(copy, files, mutants);
  if (failures.length > 0) throw new Error(`Tests fail without a mutant: ${failures.join("; ")}`);
  return survivors;
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
    if (!excuses.some((excuse) => isExcuseOf(excuse, mutant))) fail(describeSurvivor(mutant));
  }
}

/** Prints which excuses are not needed and how many mutants were killed, and sets the exit code. */
function judge(): void {
  const files = new Set(everyMutant.map(({ file }) => file));
  for (const excuse of excuses) {
    // Of another area, or of sources that only samples change.
    if (!files.has(excuse.file)) continue;
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

function fail(message: string): void {
  process.exitCode = 1;
  console.log(message);
}
