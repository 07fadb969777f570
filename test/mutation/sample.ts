// npm run mutate:sample [-- COUNT] [PATH ...] [--seed TEXT] [--near]: draws some of the small changes that are possible in all of
// src/features and src/kernel, or in the files whose paths include one of PATH, and lists those that no test notices. The
// seed is the day (UTC), so that each day tries others. With --near only the tests at the mirrored
// path or folder are tried, where there are any. Fails when fewer than the target are noticed.
import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isExcuseOf, readExcuses, root } from "./areas.ts";
import { copyProject } from "./copy.ts";
import { allMutants, draw, hasNearestTests, sampledFolders, shareOut, type Share } from "./draw.ts";
import { describeSurvivor, instrument, type Mutant } from "./mutants.ts";
import { tryMutants } from "./survivors.ts";

const defaultCount = 50;
/** Percent of the mutants that tests must notice, but for those that are excused. */
const targetPercent = 90;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: new Date().toISOString().slice(0, 10) },
    near: { type: "boolean", default: false },
  },
});
const isCount = (word: string) => /^\d+$/.test(word);
const count = Number(positionals.find(isCount) ?? defaultCount);
const mutants = allMutants(
  sampledFolders,
  positionals.filter((word) => !isCount(word)),
);
const drawn = draw(mutants, count, values.seed);
console.log(`${String(drawn.length)} of ${String(mutants.length)} mutants, seed ${values.seed}`);

const excuses = readExcuses();
const copy = copyProject();
let killed = 0;
let excused = 0;
for (const share of shareOut(drawn)) await judge(share);

const tried = drawn.length - excused;
const percent = tried === 0 ? 100 : (100 * killed) / tried;
console.log(
  `${String(killed)} of ${String(tried)} mutants killed (${percent.toFixed(1)} %), ${String(excused)} excused`,
);
if (percent < targetPercent) {
  console.log(`Fewer than ${String(targetPercent)} % were killed.`);
  process.exitCode = 1;
}

/** Tries the mutants of a share, and prints its figures and survivors. */
async function judge(share: Share): Promise<void> {
  const startedAt = performance.now();
  for (const file of share.sources) write(file);
  let left: readonly Mutant[] = share.mutants;
  for (const [place, stage] of share.stages.entries()) {
    // The other tests are then for files that have none nearer.
    const isEnough = ({ file }: Mutant) => values.near && place > 0 && hasNearestTests(file);
    const done = left.filter(isEnough);
    const tried = left.filter((mutant) => !isEnough(mutant));
    const { survivors, failures } = await tryMutants(copy, stage, tried);
    left = [...done, ...survivors].sort((one, other) => one.number - other.number);
    for (const failure of failures)
      console.log(`Left out, as it fails without a mutant: ${failure}`);
  }
  const survivors = left.filter((one) => !excuses.some((excuse) => isExcuseOf(excuse, one)));
  const seconds = (performance.now() - startedAt) / 1_000;
  killed += share.mutants.length - left.length;
  excused += left.length - survivors.length;
  console.log(
    `${share.name}: ${String(share.mutants.length - left.length)} of ${String(share.mutants.length)} killed, ` +
      `${String(left.length - survivors.length)} excused, ${seconds.toFixed(0)} s`,
  );
  for (const survivor of survivors) console.log(describeSurvivor(survivor));
}

/** Writes a source with all its mutants into the copy. Their numbers are those of `mutants`. */
function write(file: string): void {
  const first = mutants.find((mutant) => mutant.file === file)?.number ?? 1;
  const source = readFileSync(join(root, file), "utf8");
  writeFileSync(join(copy, file), instrument(file, source, first).text);
}
