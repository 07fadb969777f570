import { parseBody } from "../api/declare/request.ts";
import { Defect } from "../kernel/errors.ts";
import type { Command, CommandCall } from "../api/declare/command.ts";
import type { CsvContent } from "../api/declare/csv.ts";
import type { ServiceName, ServiceOf } from "../compose/features/readers.ts";
import { WholeProgramNeeded } from "../compose/features/whole-program-needed.ts";
import type { WriteContext } from "../platform/database/index.ts";
import type { Scope } from "./command-words.ts";
import { openLight, openWhole } from "./open-store.ts";
import { operator } from "./operator.ts";
import { chooseOrganization, findNamed, type NamedOrganization } from "./organization.ts";
import { printRecord } from "./terminal/output.ts";
import { printCode } from "./terminal/qr-code.ts";
import { readNewPassword } from "./terminal/password.ts";
import { printPreview } from "./look-first/preview.ts";
import { startProgress } from "./terminal/progress.ts";
import { askText, confirm, personAt, requireConsent } from "./terminal/prompts.ts";
import { missing, UsageError } from "./failures/refusals.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { decodeText, readInput } from "./terminal/text-input.ts";
import { watch } from "./terminal/watch.ts";
import { makeTrial, type Trial } from "./look-first/trial.ts";

/** The parsed arguments and flags of one command. */
export interface CommandArguments {
  readonly arguments: Readonly<Record<string, string | undefined>>;
  /** Flags by property name: `expiresAt` for --expires-at. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * Runs a feature's command: completes the flags, parses input by the API's schema, calls the service, prints the
 * record. A write first reads what it is about; before a question and in a dry run, it is tried out and rolled back, so
 * that the values before and after can be shown. A command that only reads does so with the service alone.
 * @throws WholeProgramNeeded if the scope is `light` and that is not enough; nothing was asked or printed
 */
export async function runFeatureCommand<Name extends ServiceName>(
  terminal: Terminal,
  command: Command<ServiceOf<Name>>,
  name: Name,
  given: CommandArguments,
  scope: Scope,
): Promise<void> {
  if (scope === "light" && !isLight(terminal, command, given.flags)) throw new WholeProgramNeeded();
  const flags = await complete(terminal, command, given.flags);
  const password =
    command.password === null ? null : await readNewPassword(terminal, command.password, flags);
  const bar = startProgress(terminal);
  const named: Named = { organization: null };
  const values = { ...given.arguments };
  const readings = new Map<string, Promise<Buffer>>();
  const output = { isTaken: false };
  const makeCall = (trial: Trial | null): CommandCall =>
    callOf(
      terminal,
      { arguments: values, flags, password, named, readings, output, progress: bar.report },
      trial,
    );
  const call = makeCall(null);
  const isTrial = command.effect === "write" && flags["dryRun"] === true;
  const needsConsent = !isTrial && (command.confirm?.(call, "") ?? null) !== null;
  if (needsConsent) requireConsent(terminal);

  const opened = await (scope === "light" ? openLight : openWhole)(terminal, flags, name);
  let startsOver = false;
  try {
    const { db, service } = opened;
    named.organization = await chooseOrganization(db, command.flags, flags, opened.organization);
    if (named.organization !== null) flags["organization"] = named.organization.id;
    for (const { name, isOrganization } of command.arguments) {
      const text = values[name];
      if (isOrganization !== true || text === undefined) continue;
      values[name] = (await findNamed(db, text)).id;
    }
    const isAsked = needsConsent && !terminal.assumesYes;
    const looked = isAsked || isTrial ? ((await command.look?.(service, call)) ?? null) : null;
    if (named.organization !== null && looked === null && command.effect !== "read") {
      const { id, name } = named.organization;
      terminal.talk(`Organization: ${name} (${id})`);
    }
    const tryOut = async () => {
      const trial = makeTrial();
      const result = await trial.resultOf(command.handle(service, makeCall(trial), looked));
      bar.end();
      return { result, shown: await command.present(result) };
    };
    const print = async (
      screen: Terminal,
      { result, shown }: { result: unknown; shown: unknown },
    ) => {
      // A file on standard output has no record beside it.
      if (!output.isTaken) await printRecord(screen, shown, command);
      const code = command.code?.(shown) ?? null;
      if (code !== null && !isTrial) await printCode(screen, code);
      const fault = (await command.fault?.(shown, result)) ?? null;
      if (fault !== null && !isTrial) throw fault;
      return fault;
    };

    if (isTrial) {
      const tried = await tryOut();
      if (looked !== null && terminal.form === "people") {
        printPreview(terminal, command.columns, looked, tried.shown);
      }
      const fault = await print(terminal, tried);
      terminal.talk(`Dry run: nothing was changed in ${opened.storeName}.`);
      if (fault !== null) throw fault;
      return;
    }
    if (isAsked) {
      const canBeShown = looked !== null && ("before" in looked || "changes" in looked);
      const after = command.effect === "write" && canBeShown ? (await tryOut()).shown : null;
      if (looked !== null) printPreview(terminal, command.columns, looked, after);
      await confirm(terminal, command.confirm?.(call, looked?.subject ?? "") ?? "");
    }
    const act = async (screen: Terminal) => {
      const result = await command.handle(service, call, looked);
      if (command.isCsv) {
        const { printCsv } = await import("./terminal/csv-output.ts");
        const file = call.flag("output");
        await printCsv(screen, result as CsvContent, file === "-" ? undefined : file, bar);
        return result;
      }
      bar.end();
      const shown = await command.present(result);
      await print(screen, { result, shown });
      return shown;
    };
    if (command.isWatched && flags["watch"] === true) {
      await watch(terminal, act);
      return;
    }
    const shown = await act(terminal);
    const isPersonThere =
      terminal.form === "people" &&
      terminal.isInteractive &&
      terminal.surroundings.stdout.isTTY === true;
    if (command.interact !== null && isPersonThere && flags["list"] !== true) {
      await command.interact(service, call, shown, personAt(terminal));
    }
    if (command.effect === "read") return;
    terminal.talk(`Done in ${opened.storeName}.`);
    if (command.next !== null) terminal.talk(`Next: ${command.next(shown)}`);
  } catch (error) {
    startsOver = error instanceof WholeProgramNeeded;
    throw error;
  } finally {
    bar.end();
    // After an error too, because another setting may be its reason.
    if (!startsOver) for (const note of opened.notes()) terminal.talk(note);
    await opened.close();
  }
}

/** Whether a command only reads, and asks nothing now or after it. */
function isLight<Service>(
  terminal: Terminal,
  command: Command<Service>,
  flags: CommandArguments["flags"],
): boolean {
  const asks = command.interact !== null || asksOf(command, flags).length > 0;
  return command.effect === "read" && !(terminal.isInteractive && asks);
}

/** Returns the flags that the command prompts for, because they are missing. */
function asksOf<Service>(command: Command<Service>, flags: CommandArguments["flags"]) {
  return command.flags.flatMap(({ flags: declared, ask }) => {
    const [name = ""] = declared.split(" ");
    const property = propertyOf(name.slice(2));
    return ask === undefined || flags[property] !== undefined ? [] : [{ name, property, ask }];
  });
}

/** Prompts for missing flags; without a terminal, reports all of them at once. */
async function complete<Service>(
  terminal: Terminal,
  command: Command<Service>,
  flags: CommandArguments["flags"],
): Promise<Record<string, string | boolean | undefined>> {
  const completed = { ...flags };
  const absent = asksOf(command, flags);
  if (!terminal.isInteractive) {
    const names = absent.map(({ name }) => name);
    const hasPassword = flags["passwordStdin"] !== undefined || flags["passwordFile"] !== undefined;
    if (command.password !== null && !hasPassword) {
      names.push("--password-stdin or --password-file");
    }
    if (names.length > 0) throw missing(...names);
  }
  for (const { name, property, ask } of absent) {
    completed[property] = await askText(terminal, name, ask);
  }
  return completed;
}

/** The organization of a call, once it was read from the store. */
interface Named {
  organization: NamedOrganization | null;
}

/** The parts of a command line from which its calls are made: the one that acts and the one that is tried out. */
interface GivenCall extends CommandArguments {
  readonly password: string | null;
  readonly named: Named;
  /** Files that were read; standard input can be read only once. */
  readonly readings: Map<string, Promise<Buffer>>;
  /** Whether standard output got a file. */
  readonly output: { isTaken: boolean };
  readonly progress: CommandCall["progress"];
}

function callOf(terminal: Terminal, given: GivenCall, trial: Trial | null): CommandCall {
  const { arguments: values, flags, password, named, readings, output, progress } = given;
  const context: WriteContext = {
    actor: operator(),
    requestId: terminal.requestId,
    ip: null,
    ...(trial === null ? {} : { finish: trial.finish }),
  };
  function readFile(path: string): Promise<Buffer> {
    const reading = readings.get(path) ?? readInput(terminal, path);
    readings.set(path, reading);
    return reading;
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

function propertyOf(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
}
