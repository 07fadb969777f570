// Orders test files by the times in .config/test-times.json.
import { readFileSync, writeFileSync } from "node:fs";

const timesFile = new URL("test-times.json", import.meta.url);
/** The assumed length of a file that was not measured yet, in seconds. */
const secondsOfUnknown = 5;

/** Returns the files in the order in which processes that take one after another end at the same time: longest first. */
export function longestFirst(files) {
  const times = JSON.parse(readFileSync(timesFile, "utf8"));
  const lengthOf = (file) => times[file] ?? secondsOfUnknown;
  return files.toSorted((left, right) => lengthOf(right) - lengthOf(left));
}

/** Saves the seconds of each file, rounded and ordered by path. */
export function writeTimes(seconds) {
  const rounded = Object.entries(seconds)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([file, length]) => [file, Math.max(Math.round(length), 1)]);
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}
