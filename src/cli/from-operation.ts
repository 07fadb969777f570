import * as z from "zod";
import type { App } from "../app.ts";
import {
  commandsOf,
  neededOrganization,
  type Command,
  type CommandArgument,
  type CommandCall,
  type CommandFlag,
} from "../api/declare/command.ts";
import { describeField, describeParameter } from "../api/declare/field-descriptions.ts";
import type { AnyCall, Operation } from "../api/declare/operation.ts";
import { describeSchema } from "../api/declare/record.ts";
import { Defect } from "../kernel/errors.ts";
import { idPrefixes, type Id } from "../kernel/id.ts";

const command = commandsOf<App>();

/**
 * Returns the commands of those operations that declare a command line.
 * @throws Defect if a command cannot express a field and its declaration does not leave it out
 */
export function commandsFrom(operations: readonly Operation<App>[]): readonly Command<App>[] {
  return operations.flatMap((operation) => {
    const { cli } = operation;
    if (cli === null) return [];
    const flags = flagsOf(operation);
    return [
      command({
        ...cli,
        summary: cli.summary ?? operation.summary,
        arguments: argumentsOf(operation),
        flags: [
          ...(operation.access.kind === "organization" ? [neededOrganization] : []),
          ...flags.map(({ declared }) => declared),
        ],
        effect: effectOf(operation),
        handle: (app: App, call: CommandCall) =>
          operation.handle(app, callOf(operation, flags, call)),
        present: (result: unknown) => operation.present(result),
      }),
    ];
  });
}

function effectOf({ method, secretAnswer }: Operation<App>): Command["effect"] {
  if (method === "GET") return "read";
  return secretAnswer ? "write-without-trial" : "write";
}

/** A flag, and the field of the query or the body that it gives. */
interface FieldFlag {
  readonly field: string;
  /** The flag's name without dashes. */
  readonly name: string;
  readonly kind: ValueKind;
  readonly declared: CommandFlag;
}

/** How a value is written at a terminal. `list` has its items separated by commas. */
type ValueKind = "text" | "number" | "boolean" | "list";

/** Returns the call of the operation that a command line makes. */
function callOf(
  operation: Operation<App>,
  flags: readonly FieldFlag[],
  call: CommandCall,
): AnyCall {
  const { access, body, query } = operation;
  const parsed = (schema: z.ZodType, shape: object): Record<string, unknown> => {
    const own = flags.filter(({ field }) => Object.hasOwn(shape, field));
    const values = own.map((flag) => [flag.field, valueOf(flag, call)]);
    return call.parse(schema, Object.fromEntries(values)) as Record<string, unknown>;
  };
  return {
    params: Object.fromEntries(pathNames(operation).map((name) => [name, call.argument(name)])),
    query: parsed(z.object(query), query),
    body: body === null ? undefined : parsed(body, shapeOf(operation)),
    context: call.context,
    actor: null,
    organizationId:
      access.kind === "organization" ? (call.flag("organization") as Id<"organization">) : null,
    standing: null,
    expect: () => undefined,
  };
}

/** Returns the value of a flag as the schema takes it; undefined if the flag was not given. */
function valueOf({ name, kind }: FieldFlag, call: CommandCall): unknown {
  if (kind === "boolean") return call.isSet(name) ? true : undefined;
  const text = call.flag(name);
  if (text === undefined || kind === "text") return text;
  if (kind === "list") return text.split(",").map((item) => item.trim());
  // The schema refuses other text, and its message names the flag.
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Returns the names of the path's parameters that are arguments of the command. */
function pathNames({ path }: Operation<App>): readonly string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => name ?? []);
  return names.filter((name) => name !== "organizationId");
}

function argumentsOf(operation: Operation<App>): readonly CommandArgument[] {
  return pathNames(operation).map((name) => ({
    name,
    description: inHelp(describeParameter(name) ?? name),
  }));
}

function flagsOf(operation: Operation<App>): readonly FieldFlag[] {
  const { body, query } = operation;
  const { limit, cursor, ...filters } = query;
  const paging = { ...(limit && { limit }), ...(cursor && { cursor }) };
  return [
    ...Object.entries({ ...filters, ...paging }).flatMap(([field, schema]) =>
      flagOf(operation, field, schema, schema.meta()?.description ?? describeParameter(field)),
    ),
    ...Object.entries(shapeOf(operation)).flatMap(([field, schema]) =>
      flagOf(operation, field, schema as z.ZodType, describeField(body, field)),
    ),
  ];
}

/** Returns the fields of the body. */
function shapeOf({ id, body }: Operation<App>): z.ZodRawShape {
  if (body === null) return {};
  if (body instanceof z.ZodObject) return body.shape;
  throw new Defect(`the body of ${id} has no fields that flags could give`);
}

/** Returns the flag of a field; none if the declaration leaves it out. */
function flagOf(
  { id, cli }: Operation<App>,
  field: string,
  schema: z.ZodType,
  description: string | undefined,
): readonly FieldFlag[] {
  const own = cli?.flags?.[field];
  if (own === null) return [];
  const json = describeSchema(schema) as JsonSchema;
  const kind = kindOf(json);
  if (kind === null)
    throw new Defect(`${id}: no flag can give ${field}: declare cli.flags.${field}`);
  const name = own?.name ?? kebab(field);
  const text = own?.description ?? `${inHelp(description ?? field)}${rangeOf(json)}`;
  const value = kind === "boolean" ? "" : ` <${own?.placeholder ?? placeholderOf(field, kind)}>`;
  const choices = own?.choices ?? choicesOf(json);
  const declared: CommandFlag = {
    flags: `--${name}${value}`,
    description: text,
    ...(name === kebab(field) ? {} : { field }),
    ...(choices === null ? {} : { choices }),
    ...(kind === "list" || own?.isList === true ? { isList: true } : {}),
    ...(schema.safeParse(undefined).success
      ? {}
      : { ask: `${text.charAt(0).toUpperCase()}${text.slice(1)}` }),
  };
  return [{ field, name, kind, declared }];
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
