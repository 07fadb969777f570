import { defineProblem } from "../kernel/errors.ts";

/** The command, or what it was given, is not one. */
export const UsageError = defineProblem({
  code: "usage",
  status: 400,
  title: "The command is not right",
});

/** The sandbox is asked for where it is not enabled: no command of it reaches a real network. */
const SandboxOff = defineProblem({
  code: "sandbox_off",
  status: 409,
  title: "The sandbox is not enabled here",
});

export function sandboxOff(): Error {
  return new SandboxOff(
    "Set TILL_NETWORKS=sandbox, or name the data folder of a demo with --data-dir.",
  );
}

/** What was looked at, and printed, is not as it should be. */
export const Unhealthy = defineProblem({
  code: "unhealthy",
  status: 503,
  title: "Something is not as it should be",
});

/** Somebody said no. */
export class Declined extends Error {
  override readonly name = "Declined";
}

/** A flag is missing and nobody is there to be asked. */
export function missing(...flags: readonly string[]): Error {
  const named = flags.join(", ");
  return new UsageError(`Give ${named}: without a terminal nothing is asked.`);
}
