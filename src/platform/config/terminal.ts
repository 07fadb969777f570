/** The terminal preferences in the environment. */
export interface TerminalWishes {
  /** Null: no preference, so it depends on whether the output is a terminal. */
  readonly colour: boolean | null;
}

/** Reads the variables that terminal programs share: NO_COLOR, FORCE_COLOR and TERM. */
export function readTerminalWishes(
  env: Readonly<Record<string, string | undefined>>,
): TerminalWishes {
  if (isGiven(env["NO_COLOR"]) || env["TERM"] === "dumb") return { colour: false };
  const force = env["FORCE_COLOR"];
  return { colour: isGiven(force) && force !== "0" ? true : null };
}

/** An empty variable counts as not set (no-color.org). */
function isGiven(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
