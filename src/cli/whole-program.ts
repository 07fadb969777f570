import type { TerminalEnvironment } from "./terminal/terminal.ts";

type RunCommandLine = (
  words: readonly string[],
  surroundings: TerminalEnvironment,
  scope: "whole",
) => Promise<number>;

/**
 * Returns the `runCommandLine` of the whole program. In the bundle for commands that only read, .config/bundle.mjs
 * replaces this file by an import of the bundle with everything.
 */
export function wholeProgram(own: RunCommandLine): Promise<RunCommandLine> {
  return Promise.resolve(own);
}
