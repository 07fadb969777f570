/** What the environment says about how to write to a terminal. */
export interface TerminalWishes {
  /** Null: nothing was said, so it depends on where the text goes. */
  readonly colour: boolean | null;
}

/** Reads the variables that terminal programs have in common: NO_COLOR, FORCE_COLOR and TERM. */
export function readTerminalWishes(
  env: Readonly<Record<string, string | undefined>>,
): TerminalWishes {
  if (isGiven(env["NO_COLOR"]) || env["TERM"] === "dumb") return { colour: false };
  const force = env["FORCE_COLOR"];
  return { colour: isGiven(force) && force !== "0" ? true : null };
}

/** Empty counts as not set, as no-color.org has it. */
function isGiven(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}
