/** The terminal preferences in the environment. */
interface TerminalPreferences {
  /** Null: no preference, so it depends on whether the output is a terminal. */
  readonly color: boolean | null;
}

/** Reads the variables that terminal programs share: NO_COLOR, FORCE_COLOR and TERM. */
export function readTerminalPreferences(
  env: Readonly<Record<string, string | undefined>>,
): TerminalPreferences {
  if (isGiven(env["NO_COLOR"]) || isDumb(env)) return { color: false };
  const force = env["FORCE_COLOR"];
  return { color: isGiven(force) && force !== "0" ? true : null };
}

/** Whether the terminal cannot move its cursor. */
export function isDumb(env: Readonly<Record<string, string | undefined>>): boolean {
  return env["TERM"] === "dumb";
}

/** An empty variable counts as not set (no-color.org). */
function isGiven(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
