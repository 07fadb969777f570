import { readFileSync } from "node:fs";
import type { Operation } from "../declare/operation.ts";
import { recordName } from "../declare/record.ts";
import { recordOf } from "../../platform/events/reference.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { programFile } from "../../platform/files.ts";

/** A call that a test made, and its answer; ids, times and secrets are replaced by values of the same form. */
export interface OperationExample {
  /** The values of the path's parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** The body, if one was sent. */
  readonly request?: unknown;
  /** The body of the answer; absent for an answer without one. */
  readonly response?: unknown;
}

export interface Examples {
  /** By operation id. */
  readonly operations: Readonly<Record<string, OperationExample>>;
  /** The webhook's body, by event type. */
  readonly events: Readonly<Record<string, { readonly data: unknown }>>;
}

/** Reads the recorded examples: `npm run docs:examples` and `npm run docs` write them. */
export function readExamples(): Examples {
  const read = (name: string) =>
    JSON.parse(readFileSync(programFile(`api/document/examples/${name}.json`), "utf8")) as unknown;
  return {
    operations: read("operations") as Examples["operations"],
    events: read("events") as Examples["events"],
  };
}

/** Returns the part of a parameter or of a body that has its example; empty without one. */
export function exampleOf(value: unknown): { readonly example?: unknown } {
  return value === undefined ? {} : { example: value };
}

/** A JSON Schema of the document; examples are added to its fields. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  examples?: readonly unknown[];
}

/**
 * Adds an example to each field of the records that the examples have a value of: text and numbers, but not fields that
 * list their values.
 */
export function addFieldExamples(
  schemas: Readonly<Record<string, unknown>>,
  operations: readonly Operation[],
  examples: Examples,
): void {
  const named = schemas as Readonly<Record<string, Schema>>;

  function visit(schema: Schema | undefined, value: unknown): void {
    if (schema === undefined || value === null || value === undefined) return;
    if (schema.$ref !== undefined) {
      visit(named[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)], value);
    } else if (Array.isArray(value)) {
      for (const { items } of variantsOf(schema)) for (const item of value) visit(items, item);
    } else if (typeof value === "object") {
      for (const variant of variantsOf(schema)) {
        if (variant.$ref !== undefined) visit(variant, value);
        for (const [name, held] of Object.entries(value)) visit(variant.properties?.[name], held);
      }
    } else if (typeof value !== "boolean" && isOpen(schema)) {
      schema.examples ??= [value];
    }
  }

  for (const { id, body, record } of operations) {
    const example = examples.operations[id];
    if (body !== null) visit(named[recordName(body)], example?.request);
    if (record !== null) visit(named[recordName(record)], example?.response);
  }
  for (const [type, { data }] of Object.entries(examples.events)) {
    visit(named[recordOf(type as EventType)], data);
  }
}

function variantsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? [schema];
}

/** Whether a field can have values other than those that its schema lists. */
function isOpen(schema: Schema): boolean {
  return variantsOf(schema).every(
    (each) =>
      each.$ref === undefined &&
      each.enum === undefined &&
      each.const === undefined &&
      each.type !== undefined,
  );
}
