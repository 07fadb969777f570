import type { Command, CommandCall, Looked, Summary } from "../http/declare/command.ts";
import type { CsvContent } from "../http/declare/operation.ts";
import { defineProblem } from "../kernel/errors.ts";
import { idPattern } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
import { callOf, propertyOf, type GivenCall } from "./command-call.ts";
import { missing } from "./failures/refusals.ts";
import { kindOf } from "./known/known-values.ts";
import { makeTrial, printPreview } from "./look-first.ts";
import { openForCommand, type OpenStore } from "./open-store.ts";
import { chooseOrganization, findNamed, needsOrganization } from "./organization.ts";
import { printRecord, printSection } from "./terminal/output.ts";
import { askText, confirm, personAt, readNewPassword, requireConsent } from "./terminal/prompts.ts";
import { startProgress, type ProgressBar } from "./terminal/progress.ts";
import { printable, type Terminal } from "./terminal/terminal.ts";
import { watch } from "./terminal/watch.ts";

/** The parsed arguments and flags of one command. */
export interface CommandArguments {
  readonly arguments: Readonly<Record<string, string | undefined>>;
  /** Flags by property name: `expiresAt` for --expires-at. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/**
 * Runs a feature's command: completes the flags, parses input by the API's schema, calls the function, prints the
 * record. A write first reads what it is about; before a question and in a dry run, it is tried out and rolled back, so
 * that the values before and after can be shown.
 */
export async function runFeatureCommand(
  terminal: Terminal,
  command: Command,
  given: CommandArguments,
): Promise<void> {
  const flags = await complete(terminal, command, given.flags);
  const password =
    command.password === null ? null : await readNewPassword(terminal, command.password, flags);
  const bar = startProgress(terminal);
  const givenCall: GivenCall = {
    arguments: { ...given.arguments },
    flags,
    password,
    named: { organization: null },
    files: new Map(),
    output: { isTaken: false },
    progress: bar.report,
  };
  const call = callOf(terminal, givenCall, null);
  const isTrial = command.effect === "write" && flags["dryRun"] === true;
  const needsConsent = !isTrial && (command.confirm?.(call, "") ?? null) !== null;
  if (needsConsent) requireConsent(terminal);

  const opened = await openForCommand(terminal, flags, command.effect === "read");
  try {
    const run = { terminal, command, given: givenCall, call, bar, opened };
    await findNames(run);
    const isAsked = needsConsent && !terminal.assumesYes;
    const looked = isAsked || isTrial ? ((await command.look?.(opened.app, call)) ?? null) : null;
    const { organization } = givenCall.named;
    if (organization !== null && looked === null && command.effect !== "read") {
      terminal.talk(`Organization: ${organization.name} (${organization.id})`);
    }
    if (isTrial) {
      await runDry(run, looked);
      return;
    }
    if (isAsked && looked?.ids?.size !== 0) await ask(run, looked);
    if (command.isWatched && flags["watch"] === true) {
      await watch(terminal, (screen) => act(run, looked, screen));
      return;
    }
    await goOn(run, await act(run, looked, terminal));
  } finally {
    bar.end();
    // After an error too, because another setting may be its reason.
    for (const note of opened.notes()) terminal.talk(note);
    await opened.close();
  }
}

/** A command whose store is open. */
interface Run {
  readonly terminal: Terminal;
  readonly command: Command;
  readonly given: GivenCall;
  readonly call: CommandCall;
  readonly bar: ProgressBar;
  readonly opened: OpenStore;
}

/** Finds the organizations and invoices that the command line names, and puts their ids in the place of their names. */
async function findNames({ command, given, call, opened }: Run): Promise<void> {
  const { arguments: values, flags, named } = given;
  const { app, organization: setting } = opened;
  const { db } = app;
  const stated = call.flag("organization");
  if (stated !== undefined || needsOrganization(command.flags, call)) {
    named.organization = await chooseOrganization(db, stated, setting);
    flags["organization"] = named.organization.id;
  }
  await resolveExternalIds(db, command, given, async () => {
    if (named.organization !== null || setting === null) return named.organization?.id ?? null;
    return (await findNamed(db, setting)).id;
  });
  for (const { name, isOrganization } of command.arguments) {
    const text = values[name];
    if (isOrganization !== true || text === undefined) continue;
    values[name] = (await findNamed(db, text)).id;
  }
}

/** Runs the command's write, rolls it back and returns its result. */
async function tryOut(
  { terminal, command, given, bar, opened }: Run,
  looked: Looked | null,
): Promise<{ result: unknown; shown: unknown }> {
  const trial = makeTrial();
  const call = callOf(terminal, given, trial);
  const result = await trial.resultOf(command.handle(opened.app, call, looked));
  bar.end();
  return { result, shown: await command.present(result) };
}

async function runDry(run: Run, looked: Looked | null): Promise<void> {
  const { terminal, command, given, call, opened } = run;
  const { result, shown } = await tryOut(run, looked);
  if (looked !== null && terminal.form === "people") {
    printPreview(terminal, command.columns, looked, shown);
  }
  // A file on standard output has no record beside it.
  if (!given.output.isTaken) {
    await show(terminal, command, shown, command.summarize?.(result, call, true) ?? null);
  }
  const fault = (await command.fault?.(shown, result)) ?? null;
  terminal.talk(`Dry run: nothing was changed in ${opened.storeName}.`);
  if (fault !== null) throw fault;
}

/** Prints the record of a command, or its summary for people. */
async function show(
  screen: Terminal,
  command: Command,
  shown: unknown,
  summary: Summary | null,
): Promise<void> {
  if (summary === null || screen.form !== "people") {
    await printRecord(screen, shown, command);
    return;
  }
  const { wrap } = await import("./terminal/drawing/table.ts");
  const { width } = screen;
  const lines =
    width === null ? [summary.text] : summary.text.split("\n").flatMap((line) => wrap(line, width));
  screen.data(lines.join("\n"));
  for (const section of summary.sections) await printSection(screen, section);
}

/** Shows what the command is about, and asks for consent. */
async function ask(run: Run, looked: Looked | null): Promise<void> {
  const { terminal, command, call } = run;
  const canBeShown = looked !== null && ("before" in looked || "changes" in looked);
  const after = command.effect === "write" && canBeShown ? (await tryOut(run, looked)).shown : null;
  if (looked !== null) printPreview(terminal, command.columns, looked, after);
  await confirm(terminal, command.confirm?.(call, looked?.subject ?? "") ?? "");
}

/** Runs the command and prints its record, which it returns. */
async function act(
  { command, given, call, bar, opened }: Run,
  looked: Looked | null,
  screen: Terminal,
): Promise<unknown> {
  const result = await command.handle(opened.app, call, looked);
  if (command.isCsv) {
    const { printCsv } = await import("./terminal/csv-output.ts");
    const file = call.flag("output");
    await printCsv(screen, result as CsvContent, file === "-" ? undefined : file, bar);
    return result;
  }
  bar.end();
  const shown = await command.present(result);
  // A file on standard output has no record beside it.
  if (!given.output.isTaken) {
    await show(screen, command, shown, command.summarize?.(result, call, false) ?? null);
  }
  const warning = (await command.warning?.(result, opened.app)) ?? null;
  // Scripts must not lose it: with --json and --quiet it is on standard error too.
  if (warning !== null) screen.surroundings.stderr.write(`${printable(`Warning: ${warning}`)}\n`);
  const code = command.code?.(shown) ?? null;
  if (code !== null) await printCode(screen, code);
  const fault = (await command.fault?.(shown, result)) ?? null;
  if (fault !== null) throw fault;
  return shown;
}

/** Continues with the person at the terminal, and names the next command. */
async function goOn(run: Run, shown: unknown): Promise<void> {
  const { terminal, command, given, call, opened } = run;
  const isPersonThere =
    terminal.form === "people" &&
    terminal.isInteractive &&
    terminal.surroundings.stdout.isTTY === true;
  if (command.interact !== null && isPersonThere && given.flags["list"] !== true) {
    await command.interact(opened.app, call, shown, personAt(terminal));
  }
  if (command.effect === "read") return;
  if (!opened.isUsualStore) terminal.talk(`Store: ${opened.storeName}`);
  if (command.next !== null) terminal.talk(`Next: ${command.next(shown, call)}`);
}

/** Returns the flags that the command prompts for, because they are missing. */
function asksOf(command: Command, flags: CommandArguments["flags"]) {
  return command.flags.flatMap(({ flags: declared, ask }) => {
    const [name = ""] = declared.split(" ");
    const property = propertyOf(name.slice(2));
    return ask === undefined || flags[property] !== undefined ? [] : [{ name, property, ask }];
  });
}

/** Prompts for missing flags; without a terminal, reports all of them at once. */
async function complete(
  terminal: Terminal,
  command: Command,
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

/** Width of the light border that QR readers need, in modules. */
const quietZoneModules = 4;
/** Upper and lower module of a character cell, both light, the upper one light, and so on. */
const blocks = { both: "█", upper: "▀", lower: "▄", none: " " };
/** Black on white, so that the code is dark on light whatever the terminal's colors are. */
const [dark, plain] = ["\u001b[97;40m", "\u001b[0m"];

/**
 * Draws a QR code with two modules per character, for people at a terminal; prints nothing where the output is not a
 * terminal or too narrow. Light modules are drawn and dark ones left out, which fits terminals with a dark background;
 * with colors, the code is white on black everywhere.
 */
async function printCode(terminal: Terminal, text: string): Promise<void> {
  const { stdout } = terminal.surroundings;
  if (terminal.form !== "people" || stdout.isTTY !== true) return;
  const { default: encodeQR } = await import("qr");
  const rows = encodeQR(text, "raw", { ecc: "low", border: quietZoneModules });
  if (rows.length > (terminal.width ?? Infinity)) return;
  const lines: string[] = [];
  for (let row = 0; row < rows.length; row += 2) {
    const lower = rows[row + 1];
    const line = (rows[row] ?? []).map((isDark, column) =>
      cell(!isDark, lower !== undefined && lower[column] !== true),
    );
    lines.push(terminal.hasColor ? `${dark}${line.join("")}${plain}` : line.join(""));
  }
  terminal.data(`\n${lines.join("\n")}`);
}

function cell(isUpperLight: boolean, isLowerLight: boolean): string {
  if (isUpperLight) return isLowerLight ? blocks.both : blocks.upper;
  return isLowerLight ? blocks.lower : blocks.none;
}

const InvoiceNeeded = defineProblem({
  code: "invoice_needed",
  status: 400,
  title: "Name an invoice",
});

/** The number of invoices that an error lists. */
const listedMax = 10;

/** The arguments and flags of a call, of which some name invoices. */
interface Given {
  readonly arguments: Record<string, string | undefined>;
  /** By property name. */
  readonly flags: Record<string, string | boolean | undefined>;
}

/**
 * Puts the ids of invoices in the place of their externalIds. A text that can be an id is one, and an unknown
 * text stays as it is. Throws an error that lists the invoices if several organizations have one.
 * @param owner returns the id of the chosen organization; null if none is chosen
 */
async function resolveExternalIds(
  reader: Reader,
  { arguments: declared, flags }: Pick<Command, "arguments" | "flags">,
  given: Given,
  owner: () => Promise<string | null>,
): Promise<void> {
  const idOf = async (text: string) =>
    isId(text) ? text : ((await findInvoice(reader, text, await owner())) ?? text);
  for (const { name, takes, isMany } of declared) {
    const text = given.arguments[name];
    if (text === undefined || !takesInvoice(name, takes)) continue;
    given.arguments[name] = isMany === true ? await inWords(text, idOf) : await idOf(text);
  }
  for (const { flags: written, takes } of flags) {
    const property = propertyOf(written.split(" ")[0]?.slice("--".length) ?? "");
    const text = given.flags[property];
    if (typeof text !== "string" || !takesInvoice(property, takes)) continue;
    given.flags[property] = await idOf(text);
  }
}

/** Returns true for a whole id of any kind: `inv_1042` is none, and may be an order's number. */
function isId(text: string): boolean {
  const kind = kindOf(text);
  return kind !== null && idPattern(kind).test(text);
}

function takesInvoice(name: string, takes: Command["arguments"][number]["takes"]): boolean {
  return takes === undefined ? name === "invoiceId" : takes.includes("invoice");
}

/** Resolves every word of a list such as `order-7=20.00 order-8`. */
async function inWords(text: string, idOf: (text: string) => Promise<string>): Promise<string> {
  const words = text.split(" ").map(async (word) => {
    const [, name = "", rest = ""] = /^(.*?)(=[^=]*)?$/.exec(word) ?? [];
    return (await idOf(name)) + rest;
  });
  return (await Promise.all(words)).join(" ");
}

/** Returns the id of the invoice with an externalId: in the chosen organization, or in the only one that has it. */
async function findInvoice(
  reader: Reader,
  externalId: string,
  organizationId: string | null,
): Promise<string | null> {
  const chosen = organizationId === null ? "" : "WHERE organizations.id = $3";
  // From the organizations, because the index of externalIds begins with them.
  const found = await reader.all<{ id: string; name: string }>(
    `SELECT invoices.id AS "id", organizations.name AS "name" FROM organizations
     JOIN invoices ON invoices.organization_id = organizations.id
       AND lower(invoices.external_id) = lower($1) AND invoices.external_id = $1
     ${chosen} ORDER BY organizations.id LIMIT $2`,
    [externalId, listedMax + 1, ...(organizationId === null ? [] : [organizationId])],
  );
  if (found.length < 2) return found[0]?.id ?? null;
  const lines = found.slice(0, listedMax).map(({ id, name }) => `  ${id} of ${name}`);
  const more = found.length > listedMax ? ["  …"] : [];
  throw new InvoiceNeeded(
    `Several organizations have an invoice with the externalId ${JSON.stringify(externalId)}. Give the id of one, or set TILL_ORGANIZATION:\n${[...lines, ...more].join("\n")}`,
  );
}
