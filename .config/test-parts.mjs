// Divides test files into parts of equal length by the times in .config/test-times.json.
import { readFileSync, writeFileSync } from "node:fs";

const timesFile = new URL("test-times.json", import.meta.url);
/** The assumed length of a file that was not measured yet, in seconds. */
const secondsOfUnknown = 5;
/** The maximum length of a part, in seconds: a longer one would use more memory, shorter ones would start too often. */
const partSecondsMax = 200;

/** Returns the seconds of each file, by path from the root. */
export function readTimes() {
  return JSON.parse(readFileSync(timesFile, "utf8"));
}

/** Saves the seconds of each file, rounded and ordered by path. */
export function writeTimes(seconds) {
  const rounded = Object.entries(seconds)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([file, length]) => [file, Math.max(Math.round(length), 1)]);
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

/**
 * Divides the files into parts, longest first, with the same number for each lane. Each file goes to the part with the
 * least time so far.
 */
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
