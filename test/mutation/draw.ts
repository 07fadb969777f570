import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { filesAt, root, type Area } from "./areas.ts";
import { instrument, type Mutant } from "./mutants.ts";
import { testsAny, usersOf } from "./users.ts";

/** The folders of which a sample is drawn: all rules and all services, with their stores. */
export const sampledFolders = ["src/features", "src/kernel"];

/** Tests with a browser, a real node, PostgreSQL, or programs of their own, which run other sources or wait for long. */
const outsideTests =
  /describe(InBrowser|OnAnvil|OnPostgres|WithPhp)|useProcesses|makeInstallation|(built|compiled)Program|endWithThisProcess|\/processes\.ts"/;

/** The tests of other features, or of commands, that are tried on a share's mutants take at most this long together, in seconds. */
const elsewhereSeconds = 60;

/** Files that every feature may have, and that are tested together. */
const testedTogether: ReadonlyMap<string, string> = new Map([
  ["checks.ts", "test/compose/checks.test.ts"],
  ["metrics.ts", "test/compose/metrics.test.ts"],
]);

/** Commands are tested with the command line. */
const commandFile = /commands\.ts$/;
const commandArea = "src/cli";
const commandTests = "test/cli";

/** A sample's mutants of one feature, or of the kernel, with the tests to try. */
export interface Share extends Area {
  readonly mutants: readonly Mutant[];
}

/** The numbered mutants of all files below `folders` whose path includes one of `parts`; all files without parts. */
export function allMutants(folders: readonly string[], parts: readonly string[]): Mutant[] {
  const mutants: Mutant[] = [];
  for (const file of folders.flatMap((folder) => filesAt(folder, ".ts"))) {
    if (parts.length > 0 && !parts.some((part) => file.includes(part))) continue;
    const source = readFileSync(join(root, file), "utf8");
    mutants.push(...instrument(file, source, mutants.length + 1).mutants);
  }
  return mutants;
}

/** Draws `count` mutants. The same seed draws the same ones from the same sources. */
export function draw(mutants: readonly Mutant[], count: number, seed: string): readonly Mutant[] {
  return mutants
    .map((mutant) => ({ mutant, ticket: ticketOf(mutant, seed) }))
    .sort((one, other) => (one.ticket < other.ticket ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);
}

/** Changes elsewhere in the file do not change a mutant's ticket. */
function ticketOf({ file, within, original, mutated }: Mutant, seed: string): string {
  return createHash("sha256")
    .update([seed, file, within, original, mutated].join("\0"))
    .digest("hex");
}

/**
 * Groups mutants by feature, and those of commands together. Each share's tests are the nearest ones of its files, then all
 * of the feature, and then those elsewhere that use its files.
 */
export function shareOut(mutants: readonly Mutant[]): readonly Share[] {
  const names = [...new Set(mutants.map(({ file }) => areaOf(file)))].sort();
  return names.map((name) => {
    const own = mutants.filter(({ file }) => areaOf(file) === name);
    const sources = [...new Set(own.map(({ file }) => file))].sort();
    const nearest = [...new Set(sources.flatMap(nearestTests))];
    const ofArea =
      name === commandArea
        ? quickest(testsAt(commandTests).filter((test) => namesCommand(test, sources)))
        : testsAt(name.replace("src/", "test/"));
    const all = ofArea.filter((test) => !nearest.includes(test));
    const known = [...nearest, ...all];
    const elsewhere = testsElsewhere(sources, name).filter((test) => !known.includes(test));
    return { name, sources, stages: [nearest, all, elsewhere], mutants: own };
  });
}

/** `src/features/invoices` of a file below it, or `src/kernel`, or `src/cli` of a feature's commands. */
function areaOf(file: string): string {
  if (commandFile.test(file)) return commandArea;
  return file
    .split("/")
    .slice(0, file.startsWith("src/features/") ? 3 : 2)
    .join("/");
}

/**
 * The test file at the mirrored path, or else those of the mirrored folder, unless that is the feature's. Of commands,
 * those of the command line that have the name of the feature or of a folder in it. Checks and metrics of all features are
 * tested together.
 */
function nearestTests(file: string): readonly string[] {
  if (commandFile.test(file)) return testsAt(commandTests).filter((test) => isNamedFor(test, file));
  const mirrored = file.replace("src/", "test/");
  const own = mirrored.replace(/\.ts$/, ".test.ts");
  for (const path of [own, testedTogether.get(basename(file)) ?? own]) {
    if (existsSync(join(root, path))) return testsAt(path);
  }
  const folder = dirname(mirrored);
  return folder === areaOf(file).replace("src/", "test/") ? [] : testsAt(folder);
}

/** Whether a file has tests at its mirrored path or folder. */
export function hasNearestTests(file: string): boolean {
  return nearestTests(file).length > 0;
}

/** Whether a test of commands is named as a folder of their source begins: `rate.test.ts` is of `rates/commands.ts`. */
function isNamedFor(test: string, source: string): boolean {
  const names = [basename(test).replace(/(-commands)?\.test\.ts$/, ""), basename(dirname(test))];
  return dirname(source)
    .split("/")
    .slice(2)
    .some((folder) => names.some((name) => folder.startsWith(name)));
}

/** The quickest tests of other features that use one of the sources by name, or that are the nearest of users of one. */
function testsElsewhere(sources: readonly string[], area: string): readonly string[] {
  const found = new Set([
    ...usersOf(sources, area).flatMap((user) => {
      const nearest = nearestTests(user);
      return nearest.length > 0 ? nearest : testsAt(areaOf(user).replace("src/", "test/"));
    }),
    ...testsAt("test/features").filter((test) => testsAny(test, sources)),
    ...testsAt(commandTests).filter((test) => namesCommand(test, sources.flatMap(commandsBeside))),
  ]);
  return quickest([...found]);
}

function commandsBeside(source: string): readonly string[] {
  const commands = join(dirname(source), "commands.ts");
  return existsSync(join(root, commands)) ? [commands] : [];
}

/** The quickest tests, as many as take `elsewhereSeconds` together. */
function quickest(tests: readonly string[]): readonly string[] {
  const times = JSON.parse(readFileSync(join(root, ".config/test-times.json"), "utf8")) as Readonly<
    Record<string, number>
  >;
  const secondsOf = (test: string) => times[test] ?? 0;
  let sum = 0;
  return tests
    .toSorted((one, other) => secondsOf(one) - secondsOf(other))
    .filter((test) => (sum += secondsOf(test)) <= elsewhereSeconds);
}

/** Whether a test runs one of the commands that the sources declare: `"invoice", "list"`. */
function namesCommand(test: string, sources: readonly string[]): boolean {
  const text = readFileSync(join(root, test), "utf8");
  return sources.some((source) =>
    [...readFileSync(join(root, source), "utf8").matchAll(/^ {4}name: "([^"]+)",$/gm)].some(
      ([, name = ""]) =>
        text.includes(name) ||
        text.includes(JSON.stringify(name.split(" ")).slice(1, -1).replaceAll(",", ", ")),
    ),
  );
}

/** The tests at a path, but for those that run other sources or wait for long. */
export function testsAt(folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return filesAt(folder, ".test.ts").filter(
    (file) => !outsideTests.test(readFileSync(join(root, file), "utf8")),
  );
}
