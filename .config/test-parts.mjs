// Divides test files into parts that take equally long, by the times that .config/test-times.json holds.
import { readFileSync, writeFileSync } from "node:fs";

const timesFile = new URL("test-times.json", import.meta.url);
/** For a file that was not measured yet, in seconds. */
const secondsOfUnknown = 5;
/** A longer part would hold more in memory, a shorter one would start too often. */
const partSecondsMax = 200;

/** Seconds that each file took, by its path from the root. */
export function readTimes() {
  return JSON.parse(readFileSync(timesFile, "utf8"));
}

/** Keeps the seconds of each file, rounded, in the order of the paths. */
export function writeTimes(seconds) {
  const rounded = Object.entries(seconds)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([file, length]) => [file, Math.max(Math.round(length), 1)]);
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

/** The files as parts, the longest first: as many for each lane, each file where there is least so far. */
export function divide(files, times, lanes) {
  const lengthOf = (file) => times[file] ?? secondsOfUnknown;
  const total = files.reduce((sum, file) => sum + lengthOf(file), 0);
  const count = lanes * Math.ceil(total / lanes / partSecondsMax);
  const parts = Array.from({ length: Math.min(count, files.length) }, () => ({
    files: [],
    seconds: 0,
  }));
  for (const file of files.toSorted((left, right) => lengthOf(right) - lengthOf(left))) {
    const [shortest] = parts.toSorted((left, right) => left.seconds - right.seconds);
    shortest.files.push(file);
    shortest.seconds += lengthOf(file);
  }
  return parts.toSorted((left, right) => right.seconds - left.seconds);
}
