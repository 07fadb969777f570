import { setFlagsFromString } from "node:v8";

// While the modules of a server load, V8 enlarges its space for new objects to the maximum, 32 MiB, and optimizes
// functions that run only then. An idle server would keep the memory of both. These flags of V8 can be set while a
// process runs.

/** Saves memory while modules load. `optimizeAgain` and `growAgain` end it. */
export function startSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--no-opt");
}

/** Lets V8 optimize functions; called before any work that may be long, such as a migration. */
export function optimizeAgain(): void {
  setFlagsFromString("--opt");
}

/**
 * How far the heap grows above what is alive before it is collected, in percent. On a machine with much memory V8 would
 * let it grow to four times as much: a server under load then takes up to 180 MiB more, for some 5 % less CPU time.
 */
const heapGrowthPercent = 25;

/** Lets the space for new objects grow with the load, and the heap moderately; called once the server has started. */
export function growAgain(): void {
  setFlagsFromString(`--heap-growing-percent=${String(heapGrowthPercent)}`);
  setFlagsFromString("--semi-space-growth-factor=2");
}
