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

/** Lets the space for new objects grow with the load; called once the server has started. */
export function growAgain(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
}
