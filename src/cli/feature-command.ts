import { parseBody } from "../api/declare/request.ts";
import { Defect } from "../kernel/errors.ts";
import type { Id } from "../kernel/id.ts";
import type { Command, CommandCall } from "../api/declare/command.ts";
import { createApp, storeName, type App } from "../compose/index.ts";
import type { WriteContext } from "../platform/database/index.ts";
import { createLogger } from "../platform/logger/index.ts";
import { operator } from "./operator.ts";
import { printRecord } from "./terminal/output.ts";
import { readNewPassword } from "./terminal/password.ts";
import { askText, confirm, requireConsent } from "./terminal/prompts.ts";
import { missing, sandboxOff, UsageError } from "./refusals.ts";
import { loadStoreSettings, logLevelOf } from "./settings.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { readInput, readTextInput } from "./terminal/text-input.ts";
import { watch } from "./terminal/watch.ts";

/** The parsed arguments and flags of one command. */
export interface CommandArguments {
  readonly arguments: Readonly<Record<string, string | undefined>>;
  /** Flags by property name: `expiresAt` for --expires-at. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * Runs a feature's command: completes the flags, parses input by the API's schema, calls the service, prints the
 * record.
 */
export async function runFeatureCommand<Service>(
  terminal: Terminal,
  command: Command<Service>,
  serviceOf: (app: App) => Service | null,
  given: CommandArguments,
): Promise<void> {
  const flags = await complete(terminal, command, given.flags);
  const trial = command.effect === "write" && flags["dryRun"] === true ? makeTrial() : null;
  const context: WriteContext = {
    actor: operator(),
    requestId: terminal.requestId,
    ip: null,
    ...(trial === null ? {} : { finish: trial.finish }),
  };
  const password =
    command.password === null ? null : await readNewPassword(terminal, command.password, flags);
  const call: CommandCall = {
    ...makeCall(context, given.arguments, flags, password),
    readText: (path) => readTextInput(terminal, path),
    readFile: (path) => readInput(terminal, path),
    attempt: (write) => (trial === null ? write : (trial.resultOf(write) as typeof write)),
    interruptible,
  };
  const question = trial === null ? (command.confirm?.(call) ?? null) : null;
  if (question !== null) requireConsent(terminal);

  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const app = await createApp(config, "use", { logger });
  try {
    const service = serviceOf(app);
    if (service === null) throw sandboxOff();
    // The API checks access to the organization; a command checks that it exists, so a list is never empty by mistake.
    const organizationId = call.flag("organization");
    if (organizationId !== undefined) {
      await app.organizationService.get(organizationId as Id<"organization">);
    }
    if (question !== null) {
      await confirm(terminal, (await command.ask?.(service, call)) ?? question);
    }
    const print = async (): Promise<{ shown: unknown; result: unknown }> => {
      const work = command.handle(service, call);
      const result = await (trial === null ? work : trial.resultOf(work));
      const presented = await command.present(result);
      await printRecord(terminal, presented, command);
      return { shown: presented, result };
    };
    if (command.isWatched && flags["watch"] === true) {
      await watch(terminal, print);
      return;
    }
    const { shown, result } = await print();
    const fault = (await command.fault?.(shown, result)) ?? null;
    if (command.effect !== "read" && (trial !== null || fault === null)) {
      terminal.talk(
        `${trial === null ? "Done" : "Dry run: nothing was changed"} in ${storeName(config)}.`,
      );
      if (command.next !== null && trial === null) terminal.talk(`Next: ${command.next(shown)}`);
    }
    if (fault !== null) throw fault;
  } finally {
    await app.close();
  }
}

/** Prompts for missing flags; without a terminal, reports all of them at once. */
async function complete<Service>(
  terminal: Terminal,
  command: Command<Service>,
  flags: CommandArguments["flags"],
): Promise<CommandArguments["flags"]> {
  const completed = { ...flags };
  const absent = command.flags.flatMap(({ flags: declared, ask }) => {
    const [name = ""] = declared.split(" ");
    const property = propertyOf(name.slice(2));
    return ask === undefined || flags[property] !== undefined ? [] : [{ name, property, ask }];
  });
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

function makeCall(
  context: WriteContext,
  given: CommandArguments["arguments"],
  flags: CommandArguments["flags"],
  password: string | null,
): Omit<CommandCall, "readText" | "readFile" | "attempt" | "interruptible"> {
  return {
    context,
    argument(name) {
      const value = given[name];
      if (value === undefined) throw new UsageError(`Missing argument: ${name}.`);
      return value;
    },
    optionalArgument: (name) => given[name],
    flag(name) {
      const value = flags[propertyOf(name)];
      return typeof value === "string" ? value : undefined;
    },
    isSet: (name) => flags[propertyOf(name)] === true,
    password() {
      if (password === null) throw new Defect("the command declares no password");
      return password;
    },
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

/** Carries the result of a dry run out of its transaction; throwing it rolls the transaction back. */
class TriedOut extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("dry run");
    this.result = result;
  }
}

/** Creates a dry run: the write runs with all its checks and is then rolled back. */
function makeTrial() {
  return {
    finish: (_tx: unknown, result: unknown): never => {
      throw new TriedOut(result);
    },
    async resultOf(work: Promise<unknown>): Promise<unknown> {
      try {
        return await work;
      } catch (error) {
        if (error instanceof TriedOut) return error.result;
        throw error;
      }
    },
  };
}
