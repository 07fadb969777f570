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
import { idPrefixes, type Id } from "../kernel/id.ts";

const command = commandsOf<App>();

/** Returns the commands of those operations that declare a command line. */
export function commandsFrom(operations: readonly Operation<App>[]): readonly Command<App>[] {
  return operations.flatMap((operation) => {
    const { cli } = operation;
    if (cli === null) return [];
    return [
      command({
        ...cli,
        summary: cli.summary ?? operation.summary,
        arguments: argumentsOf(operation),
        flags: flagsOf(operation),
        effect: effectOf(operation),
        handle: (app: App, call: CommandCall) => operation.handle(app, callOf(operation, call)),
        present: (result: unknown) => Promise.resolve(operation.present(result)),
      }),
    ];
  });
}

function effectOf({ method, secretAnswer }: Operation<App>): Command["effect"] {
  if (method === "GET") return "read";
  return secretAnswer ? "write-without-trial" : "write";
}

/** The call of the operation that a command line makes. */
function callOf(operation: Operation<App>, call: CommandCall): AnyCall {
  const { access, body, query } = operation;
  const organizationId =
    access.kind === "organization" ? (call.flag("organization") as Id<"organization">) : null;
  const parsed = (schema: z.ZodObject): Record<string, unknown> =>
    call.parse(
      schema,
      Object.fromEntries(
        Object.keys(schema.shape).map((name) => [name, call.flag(flagName(name))]),
      ),
    );
  return {
    params: Object.fromEntries(pathNames(operation).map((name) => [name, call.argument(name)])),
    query: parsed(z.object(query)),
    body: body instanceof z.ZodObject ? parsed(body) : undefined,
    context: call.context,
    actor: null,
    organizationId,
    standing: null,
    expect: () => undefined,
  };
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

function flagsOf({ access, body, query, cli }: Operation<App>): readonly CommandFlag[] {
  const shape: z.ZodRawShape = body instanceof z.ZodObject ? body.shape : {};
  const { limit, cursor, ...filters } = query;
  const paging = Object.fromEntries(
    Object.entries({ limit, cursor }).flatMap(([name, schema]) =>
      schema === undefined ? [] : [[name, schema]],
    ),
  );
  const described = [
    ...Object.entries({ ...filters, ...paging }).map(([name, schema]) => ({
      name,
      schema,
      description: schema.meta()?.description ?? describeParameter(name),
    })),
    ...Object.entries(shape).map(([name, schema]) => ({
      name,
      schema: schema as z.ZodType,
      description: describeField(body, name),
    })),
  ];
  return [
    ...(access.kind === "organization" ? [neededOrganization] : []),
    ...described.flatMap(({ name, schema, description }) => {
      const own = cli?.flags?.[name];
      const value = own === null ? null : valueOf(name, schema);
      if (value === null) return [];
      const text = inHelp(description ?? name);
      return {
        flags: `--${flagName(name)}${value}`,
        description: `${text}${rangeOf(schema)}`,
        ...(schema.isOptional() ? {} : { ask: `${text.charAt(0).toUpperCase()}${text.slice(1)}` }),
        ...own,
      };
    }),
  ];
}

/** `externalId` → `external-id` */
function flagName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The placeholders of values, by the ends of their fields' names. */
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

/** Returns a flag's placeholder of a value; null if a flag cannot express the value. */
function valueOf(name: string, schema: z.ZodType): string | null {
  const { type, anyOf } = describeSchema(schema) as JsonSchema;
  const [of = {}] = anyOf ?? [];
  const kind = type ?? of.type;
  if (kind === "boolean") return "";
  if (kind === "integer" || kind === "number") return " <number>";
  if (kind !== "string") return null;
  if (Object.hasOwn(idPrefixes, name.replace(/Id$/, ""))) return " <id>";
  return ` <${placeholders[flagName(name).split("-").at(-1) ?? ""] ?? "text"}>`;
}

/** `, 1 to 100 (default 20)` */
function rangeOf(schema: z.ZodType): string {
  const { minimum, maximum, default: usual } = describeSchema(schema) as JsonSchema;
  const range =
    minimum === undefined || maximum === undefined
      ? ""
      : `, ${String(minimum)} to ${String(maximum)}`;
  return usual === undefined ? range : `${range} (default ${String(usual)})`;
}

interface JsonSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
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
