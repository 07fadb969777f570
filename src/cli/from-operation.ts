import * as z from "zod";
import type { App } from "../app.ts";
import {
  anyOrganization,
  command,
  neededOrganization,
  organizationArgument,
  statedOrganization,
  type Command,
  type CommandArgument,
  type CommandCall,
  type CommandFlag,
  type DeclaredCommandLine,
  type Looked,
  type OwnFlag,
} from "../http/declare/command.ts";
import { describeField, describeParameter, describeSchema } from "../http/declare/record.ts";
import { pathParameters, type AnyCall, type Operation } from "../http/declare/operation.ts";
import { PreconditionFailed } from "../http/declare/problems.ts";
import { Defect, InvalidRequest, notFound } from "../kernel/errors.ts";
import { idPrefixes, type Id, type IdKind } from "../kernel/id.ts";

/** The file of a CSV response. */
const outputFlag: CommandFlag = {
  flags: "--output <file>",
  description:
    "write to a new file, which appears when it is complete (default, or -: standard output)",
};

/**
 * Returns the commands of those operations that declare a command line.
 * @throws Defect if a command cannot express a field and its declaration does not leave it out
 */
export function commandsFrom(operations: readonly Operation[]): readonly Command[] {
  return operations.flatMap((operation) => operation.cli.map((cli) => commandOf(operation, cli)));
}

function commandOf(operation: Operation, cli: DeclaredCommandLine): Command {
  const values = valuesOf(operation, cli);
  // A usage error comes before a question.
  const requireValues = (call: CommandCall) => {
    requireEither(values, call);
    if (operation.method === "PATCH") requireChange(values, call);
  };
  const { confirm, look, ...rest } = cli;
  if (cli.organization === "found" && kindOfParameter(nameOfFound(operation, values)) === null) {
    throw new Defect(`${operation.id}: no argument is the id of an object with an organization`);
  }
  return command({
    ...rest,
    summary: cli.summary ?? operation.summary,
    arguments: [
      ...(cli.organization === "argument" ? [organizationArgument] : []),
      ...pathNames(operation).map(argumentOf),
      ...values.flatMap(({ argument }) => argument ?? []),
    ],
    flags: [
      ...organizationFlags(operation, cli),
      ...values.flatMap(({ flag }) => flag ?? []),
      ...values.flatMap(({ alternative }) => alternative ?? []),
      ...(operation.csv === null ? [] : [outputFlag]),
    ],
    effect: effectOf(operation),
    ...(operation.csv === null ? {} : { isCsv: true }),
    ...(look === undefined ? {} : { look }),
    ...(confirm === undefined
      ? {}
      : {
          confirm(call: CommandCall, subject: string) {
            requireValues(call);
            return confirm(call, subject);
          },
        }),
    async handle(app: App, call: CommandCall, looked: Looked | null) {
      requireValues(call);
      const organizationId = await organizationOf(operation, cli, values, app, call);
      return operation.handle(app, {
        params: {
          ...Object.fromEntries(pathNames(operation).map((name) => [name, call.argument(name)])),
          ...(organizationId === undefined ? {} : { organizationId }),
        },
        ...(await inputOf(operation, values, call, app, organizationId)),
        context: call.context,
        actor: null,
        organizationId: organizationId ?? null,
        membership: null,
        expect: (current) => {
          requireVersion(current, looked);
        },
      });
    },
    present: (result: unknown) => operation.present(result),
  } as Parameters<typeof command>[0]);
}

function effectOf({ method, secretResponse }: Operation): Command["effect"] {
  if (method === "GET") return "read";
  return secretResponse ? "write-without-trial" : "write";
}

type OwnFlags = Readonly<Record<string, OwnFlag | null | undefined>>;

/** A field of the query or the body, and the flag or the argument that gives it. */
interface Value {
  readonly field: string;
  /** The name of the flag without dashes, or of the argument. */
  readonly name: string;
  readonly kind: ValueKind;
  readonly own: OwnFlag;
  readonly argument: CommandArgument | null;
  readonly flag: CommandFlag | null;
  /** The flag of the field's other value. */
  readonly alternative: CommandFlag | null;
}

/** How a value is written at a terminal. `list` has its items separated by commas. */
type ValueKind = "text" | "number" | "boolean" | "list";

/** Returns the query and the body of the call that a command line makes. */
async function inputOf(
  operation: Operation,
  values: readonly Value[],
  call: CommandCall,
  app: App,
  organizationId: Id<"organization"> | undefined,
): Promise<Pick<AnyCall, "query" | "body">> {
  const { query, body } = operation;
  const given = await Promise.all(
    values.map(async (value) => {
      const isOfQuery = Object.hasOwn(query, value.field);
      return [value.field, await valueOf(value, call, isOfQuery, app, organizationId)] as const;
    }),
  );
  const parsed = (schema: z.ZodType, shape: object) =>
    call.parse(schema, Object.fromEntries(given.filter(([field]) => Object.hasOwn(shape, field))));
  return {
    query: parsed(z.object(query), query) as AnyCall["query"],
    body: body === null ? undefined : parsed(body, shapeOf(operation)),
  };
}

/** Returns a value as the schema takes it, a query's as in a URL; undefined if it was not given. */
function valueOf(
  { name, kind, own, argument }: Value,
  call: CommandCall,
  isOfQuery: boolean,
  app: App,
  organizationId: Id<"organization"> | undefined,
): unknown {
  const { alternative, read, value } = own;
  if (value !== undefined) return value;
  if (alternative !== undefined && call.isSet(alternative.name)) return alternative.value;
  if (argument === null && kind === "boolean") {
    if (!call.isSet(name)) return undefined;
    return isOfQuery ? "true" : true;
  }
  const text = argument === null ? call.flag(name) : call.argument(name);
  if (text === undefined) return undefined;
  if (read !== undefined) return read(text, call, app, organizationId);
  if (isOfQuery) return text;
  if (kind === "list") return text.split(",").map((item) => item.trim());
  // The schema refuses other text, and its message names the flag.
  return kind === "number" && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Throws if a flag and its alternative are given. */
function requireEither(values: readonly Value[], call: CommandCall): void {
  for (const { name, own } of values) {
    if (own.alternative === undefined || call.flag(name) === undefined) continue;
    if (!call.isSet(own.alternative.name)) continue;
    throw new InvalidRequest(`Give either --${name} or --${own.alternative.name}, not both.`);
  }
}

/** Throws if no flag is given. */
function requireChange(values: readonly Value[], call: CommandCall): void {
  const names = [
    ...values.map(({ name }) => name),
    ...values.flatMap(({ own }) => own.alternative?.name ?? []),
  ];
  if (names.some((name) => call.flag(name) !== undefined || call.isSet(name))) return;
  throw new InvalidRequest(`Nothing to change: give ${either(names.map((name) => `--${name}`))}.`);
}

/** Throws if the object was changed after its version that the question described. */
function requireVersion(current: unknown, looked: Looked | null): void {
  if (looked?.version === undefined) return;
  if ((current as { readonly version?: number }).version === looked.version) return;
  const again = looked.again === undefined ? "" : ` with ${looked.again}`;
  throw new PreconditionFailed(
    `It was changed after the question. Look at it again${again}, then repeat the command.`,
  );
}

/** Returns the names of the path's parameters that are arguments of the command. */
function pathNames({ path }: Operation): readonly string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  return names.filter((name) => name !== "organizationId");
}

function argumentOf(name: string): CommandArgument {
  const kind = kindOfParameter(name);
  const example = kind === null ? "" : `, such as ${idPrefixes[kind]}_01h…`;
  // The command line finds invoices by both.
  const other = kind === "invoice" ? ", or its externalId" : "";
  return { name, description: `${inHelp(describeParameter(name) ?? name)}${example}${other}` };
}

function kindOfParameter(name: string): IdKind | null {
  return pathParameters[name as keyof typeof pathParameters];
}

/** Returns the flags by which an organization is named. */
function organizationFlags(
  { path, query }: Operation,
  { organization, flags }: DeclaredCommandLine,
): readonly CommandFlag[] {
  if (Object.hasOwn(query, "organizationId")) {
    const own = flags?.["organizationId"];
    if (own === null) return [];
    return [{ ...(own?.isNeededIf === undefined ? anyOrganization : neededOrganization), ...own }];
  }
  if (!path.includes("{organizationId}")) return [];
  if (organization === undefined) return [neededOrganization];
  return organization === "stated" ? [statedOrganization] : [];
}

/** Returns the organization of the path. */
async function organizationOf(
  operation: Operation,
  { organization }: DeclaredCommandLine,
  values: readonly Value[],
  app: App,
  call: CommandCall,
): Promise<Id<"organization"> | undefined> {
  const given =
    organization === "argument" ? call.argument("organizationId") : call.flag("organization");
  if (given !== undefined || organization === undefined) {
    return given as Id<"organization"> | undefined;
  }
  const { findKnown } = await import("./known/known-values.ts");
  const name = nameOfFound(operation, values);
  const kind = kindOfParameter(name);
  const known = kind === null ? null : await findKnown(app.db, kind, call.argument(name));
  if (known?.owner == null) throw notFound();
  return known.owner as Id<"organization">;
}

/** Returns the argument that names the object whose organization is found. */
function nameOfFound(operation: Operation, values: readonly Value[]): string {
  const named = values.find(({ argument }) => argument !== null);
  return pathNames(operation).at(-1) ?? named?.name ?? "";
}

function valuesOf(operation: Operation, cli: DeclaredCommandLine): readonly Value[] {
  const { body, query } = operation;
  const { limit, cursor, ...filters } = query;
  const paging = { ...(limit && { limit }), ...(cursor && { cursor }) };
  const flags: OwnFlags = cli.flags ?? {};
  return Object.entries({ ...filters, ...paging, ...shapeOf(operation) }).flatMap(
    ([field, schema]) => {
      const own = flags[field];
      if (own === null || cli.fields?.includes(field) === false) return [];
      if (field === "organizationId") return [organizationValue];
      const words = describeField(body, field);
      return [valueFrom(operation.id, field, schema, words, own ?? {})];
    },
  );
}

/** The filter of a list of all organizations, whose flag is `anyOrganization`. */
const organizationValue: Value = {
  field: "organizationId",
  name: "organization",
  kind: "text",
  own: {},
  argument: null,
  flag: null,
  alternative: null,
};

/** Returns the fields of the body. */
function shapeOf({ id, body }: Pick<Operation, "id" | "body">): z.ZodRawShape {
  if (body === null) return {};
  if (body instanceof z.ZodObject) return body.shape;
  throw new Defect(`the body of ${id} has no fields that flags could give`);
}

function valueFrom(
  operationId: string,
  field: string,
  schema: z.ZodType,
  documented: string | undefined,
  own: OwnFlag,
): Value {
  const json = describeSchema(schema) as JsonSchema;
  const kind = own.read === undefined ? kindOf(json) : "text";
  if (kind === null)
    throw new Defect(`${operationId}: no flag can give ${field}: declare cli.flags.${field}`);
  const name = own.name ?? (own.isArgument === true ? field : kebab(field));
  const words = documented ?? json.description ?? describeParameter(field) ?? field;
  const description =
    own.description ?? `${inHelp(words)}${exampleOf(json, words)}${rangeOf(json)}`;
  const choices = own.choices ?? choicesOf(json);
  const taken = {
    description,
    ...(name === kebab(field) || name === field ? {} : { field }),
    ...(choices === null ? {} : { choices }),
    ...(choices !== null && (kind === "list" || own.isList === true)
      ? { isList: true as const }
      : {}),
    ...(own.takes === undefined ? {} : { takes: own.takes }),
  };
  const placeholder =
    kind === "boolean" ? "" : ` <${own.placeholder ?? placeholderOf(field, kind)}>`;
  const isAsked = own.ask !== undefined || !schema.safeParse(undefined).success;
  const ask = own.ask ?? `${description.charAt(0).toUpperCase()}${description.slice(1)}`;
  return {
    field,
    name,
    kind,
    own,
    argument:
      own.isArgument === true
        ? { name, ...taken, ...(own.isMany === true ? { isMany: own.isMany } : {}) }
        : null,
    flag:
      own.isArgument === true || own.value !== undefined
        ? null
        : { flags: `--${name}${placeholder}`, ...taken, ...(isAsked ? { ask } : {}) },
    alternative:
      own.alternative === undefined
        ? null
        : { flags: `--${own.alternative.name}`, description: own.alternative.description },
  };
}

/** `externalId` → `external-id` */
function kebab(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The part of a JSON Schema that decides about a flag. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
  readonly format?: string;
  readonly description?: string;
}

/** Returns the schema of the values other than null. */
function withoutNull({ anyOf, ...rest }: JsonSchema): JsonSchema {
  const [only, ...others] = (anyOf ?? []).filter(({ type }) => type !== "null");
  if (only !== undefined && others.length === 0) return only;
  const [type, ...more] = [rest.type ?? []].flat().filter((each) => each !== "null");
  return type === undefined || more.length > 0 ? rest : { ...rest, type };
}

function kindOf(schema: JsonSchema): ValueKind | null {
  const { type, items } = withoutNull(schema);
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  return type === "array" && items?.type === "string" ? "list" : null;
}

function choicesOf(schema: JsonSchema): readonly string[] | null {
  const { enum: values, items } = withoutNull(schema);
  return values ?? items?.enum ?? null;
}

/** The placeholders of values, by the last words of their fields' names. */
const placeholders: Readonly<Record<string, string>> = {
  email: "address",
  address: "address",
  hash: "hash",
  symbol: "symbol",
  currency: "code",
  network: "id",
  url: "url",
  status: "status",
  from: "time",
  to: "time",
  at: "time",
};

function placeholderOf(field: string, kind: ValueKind): string {
  if (kind === "number" || kind === "list") return kind;
  if (Object.hasOwn(idPrefixes, field.replace(/Id$/, ""))) return "id";
  return placeholders[kebab(field).split("-").at(-1) ?? ""] ?? "text";
}

/**
 * `: active or archived`, if the values are few and the description does not name them; `, such as
 * 2031-01-31T00:00:00.000Z` for a time.
 */
function exampleOf(schema: JsonSchema, description: string): string {
  if (withoutNull(schema).format === "date-time") return ", such as 2031-01-31T00:00:00.000Z";
  const choices = choicesOf(schema) ?? [];
  const words = either(choices);
  if (choices.every((choice) => description.includes(choice))) return "";
  return words.length > choiceWordsMax ? "" : `: ${words}`;
}

/** The most characters of the choices that a description lists. */
const choiceWordsMax = 60;

/** `a, b or c` */
function either(words: readonly string[]): string {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`;
}

/** `, 1 to 100 (default 20)` */
function rangeOf(schema: JsonSchema): string {
  const { minimum, maximum, default: usual } = { ...withoutNull(schema), ...schema };
  const range =
    minimum === undefined || maximum === undefined
      ? ""
      : `, ${String(minimum)} to ${String(maximum)}`;
  return usual === undefined ? range : `${range} (default ${String(usual)})`;
}

/** Returns a description of the document as the help writes it: `The customer's name.` → `the customer's name` */
function inHelp(description: string): string {
  return description
    .replaceAll("`", "")
    .replace(/\.$/, "")
    .split(/\. (?=[A-Z])/)
    .map((sentence) =>
      /^[A-Z][a-z ]/.test(sentence)
        ? `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`
        : sentence,
    )
    .join("; ");
}
