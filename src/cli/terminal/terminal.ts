import type { Readable, Writable } from "node:stream";
import { systemClock } from "../../kernel/clock.ts";
import { createIds, type Id } from "../../kernel/id.ts";
import { readTerminalPreferences } from "../../platform/config/terminal.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { UsageError } from "../failures/refusals.ts";

/** A stream, and whether it is a terminal. */
type Output = Writable & {
  readonly isTTY?: boolean;
  /** Size of a terminal, in characters. */
  readonly columns?: number;
  readonly rows?: number;
};

/** The process's streams and environment: `process`, or a substitute in tests. */
export interface TerminalEnvironment {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Flags that every command accepts, by commander's property names. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
  /** False with --no-color. */
  readonly color?: boolean;
}

/** Output and global flags of a command. Data goes to standard output, everything else to standard error. */
export interface Terminal {
  /** Tables for people, JSON records for scripts, or ids only. */
  readonly form: "people" | "json" | "quiet";
  /** Whether the user can be prompted. */
  readonly isInteractive: boolean;
  readonly assumesYes: boolean;
  readonly isVerbose: boolean;
  /** Whether output may be colored. */
  readonly hasColor: boolean;
  /** The columns of the terminal; null if standard output is a file or a pipe, which gets plain and complete text. */
  readonly width: number | null;
  readonly surroundings: TerminalEnvironment;
  /** Id of this run, for the audit log and error messages. */
  readonly requestId: Id<"request">;
  /** Prints a line of data. */
  data(line: string): void;
  /** Prints additional information for people; suppressed with --json and --quiet. */
  talk(line: string): void;
}

/** @throws UsageError if the flags contradict each other */
export function makeTerminal(flags: GlobalFlags, surroundings: TerminalEnvironment): Terminal {
  const { stdin, stdout, stderr, env } = surroundings;
  if (flags.json === true && flags.quiet === true) {
    throw new UsageError(
      "Give either --json, which prints whole records, or --quiet, which prints only ids.",
    );
  }
  const form = flags.json === true ? "json" : flags.quiet === true ? "quiet" : "people";
  const wishes = readTerminalPreferences(env);
  const isColorWanted = wishes.color ?? stdout.isTTY === true;
  return {
    form,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    assumesYes: flags.yes === true,
    isVerbose: flags.verbose === true,
    hasColor: flags.color !== false && isColorWanted,
    width: stdout.isTTY === true ? widthOfScreen(stdout) : null,
    surroundings,
    requestId: createIds(systemRandom).next("request", systemClock.now()),
    data(line) {
      stdout.write(`${line}\n`);
    },
    talk(line) {
      if (form === "people") stderr.write(`${printable(line)}\n`);
    },
  };
}

const usualWidth = 80;

/** Returns the columns of a terminal. Some report none, or 0. */
function widthOfScreen({ columns = 0 }: Output): number {
  return columns > 0 ? columns : usualWidth;
}

/** Characters that move the cursor, change colors or reverse the writing direction. */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes untrusted text safe for a terminal. Line breaks remain. */
export function printable(text: string): string {
  return text.replace(unprintable, "\ufffd");
}
