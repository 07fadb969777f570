import type { Readable, Writable } from "node:stream";
import { systemClock } from "../kernel/clock.ts";
import { createIds, type Id } from "../kernel/id.ts";
import { readTerminalWishes } from "../platform/config/terminal.ts";
import { systemRandom } from "../platform/secrets/random.ts";

/** A stream and whether a person sees what is written to it. */
type Output = Writable & { readonly isTTY?: boolean };

/** What a program is started in: `process`, or what a test puts in its place. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Flags that every command takes, as the parser of arguments names them. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly yes?: boolean;
  readonly verbose?: boolean;
  /** False with --no-color. */
  readonly color?: boolean;
}

/** Where a command writes: data to standard output, everything else to standard error. */
export interface Terminal {
  /** Tables for people, records for scripts, or ids alone. */
  readonly form: "people" | "json" | "quiet";
  /** Whether somebody is there who can be asked. */
  readonly isInteractive: boolean;
  readonly assumesYes: boolean;
  readonly isVerbose: boolean;
  /** Whether data may be coloured. */
  readonly hasColour: boolean;
  readonly surroundings: Surroundings;
  /** Names this run, in the audit log and where something goes wrong. */
  readonly requestId: Id<"request">;
  /** What was asked for: a line of data. */
  data(line: string): void;
  /** What a person may want to know beside it; scripts are told nothing. */
  talk(line: string): void;
}

export function makeTerminal(flags: GlobalFlags, surroundings: Surroundings): Terminal {
  const { stdin, stdout, stderr, env } = surroundings;
  const form = flags.json === true ? "json" : flags.quiet === true ? "quiet" : "people";
  const wishes = readTerminalWishes(env);
  const isColourWanted = wishes.colour ?? stdout.isTTY === true;
  return {
    form,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    assumesYes: flags.yes === true,
    isVerbose: flags.verbose === true,
    hasColour: flags.color !== false && isColourWanted,
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

/** What would move the cursor, change colours or turn the direction of writing. */
const unprintable =
  // eslint-disable-next-line no-control-regex -- control characters are what it looks for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text that others have written, made harmless for a terminal. Line ends stay. */
export function printable(text: string): string {
  return text.replace(unprintable, "\ufffd");
}
