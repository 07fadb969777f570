import type { CommandCall } from "../http/declare/command.ts";
import { parseBody } from "../http/declare/request.ts";
import { Defect } from "../kernel/errors.ts";
import type { WriteContext } from "../platform/database/database.ts";
import { UsageError } from "./failures/refusals.ts";
import type { Trial } from "./look-first.ts";
import { operator } from "./operator.ts";
import type { NamedOrganization } from "./organization.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { decodeText, readInput } from "./terminal/text-input.ts";

/** The organization of a call, once it was read from the store. */
interface Named {
  organization: NamedOrganization | null;
}

/** The parts of a command line from which its calls are made: the one that acts and the one that is tried out. */
export interface GivenCall {
  readonly arguments: Record<string, string | undefined>;
  /** Flags by property name. */
  readonly flags: Record<string, string | boolean | undefined>;
  readonly password: string | null;
  readonly named: Named;
  /** Files that were read; standard input can be read only once. */
  readonly files: Map<string, Promise<Buffer>>;
  /** Whether standard output got a file. */
  readonly output: { isTaken: boolean };
  readonly progress: CommandCall["progress"];
}

/** Makes the call of a command. In a trial, its writes are rolled back. */
export function callOf(terminal: Terminal, given: GivenCall, trial: Trial | null): CommandCall {
  const { arguments: values, flags, password, named, files, output, progress } = given;
  const context: WriteContext = {
    actor: operator(),
    requestId: terminal.requestId,
    ip: null,
    ...(trial === null ? {} : { finish: trial.finish }),
  };
  function readFile(path: string): Promise<Buffer> {
    const file = files.get(path) ?? readInput(terminal, path);
    files.set(path, file);
    return file;
  }
  return {
    context,
    argument(name) {
      const value = values[name];
      if (value === undefined) throw new UsageError(`Missing argument: ${name}.`);
      return value;
    },
    optionalArgument: (name) => values[name],
    flag(name) {
      const value = flags[propertyOf(name)];
      return typeof value === "string" ? value : undefined;
    },
    organization() {
      if (named.organization === null) throw new Defect("the command names no organization");
      const { id, name, status } = named.organization;
      return `${name} (${id}), ${status}`;
    },
    isSet: (name) => flags[propertyOf(name)] === true,
    password() {
      if (password === null) throw new Defect("the command declares no password");
      return password;
    },
    readFile,
    async writeFile(path, text) {
      const { writeAll, writeNewFile } = await import("./terminal/csv-output.ts");
      if (path !== "-") {
        await writeNewFile(terminal, path, [text]);
        return;
      }
      if (terminal.form !== "people") {
        throw new UsageError(
          "With - the file itself goes to standard output: leave out --json and --quiet, or name a file.",
        );
      }
      output.isTaken = true;
      await writeAll(terminal.surroundings.stdout, [text]);
    },
    readText: async (path) => decodeText(path, await readFile(path)),
    attempt: (write) => (trial === null ? write : (trial.resultOf(write) as typeof write)),
    interruptible,
    progress,
    parse: (schema, input) => parseBody(schema, withoutMissing(input)) as never,
  };
}

async function interruptible<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T> {
  let isInterrupted = false;
  const stop = () => {
    isInterrupted = true;
  };
  process.once("SIGINT", stop);
  try {
    return await work(() => isInterrupted);
  } finally {
    process.off("SIGINT", stop);
  }
}

/** Removes missing flags: the schema expects absent keys, not undefined. */
function withoutMissing(input: unknown): unknown {
  if (typeof input !== "object" || input === null) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** Returns the property of a flag, by its name without dashes. */
export function propertyOf(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
}
