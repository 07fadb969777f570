// Writes the fields of a schema of the OpenAPI document as a Markdown table.
import { nameOf } from "./schema-types.ts";

type Plain = string | number | boolean | null;

/** The parts of JSON Schema that the reference shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Plain[];
  readonly const?: Plain;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: Plain;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly schema: Schema;
}

/** The page of the records, as the pages beside it refer to it. */
const records = "records.md";

export function parameterTable(parameters: readonly Parameter[]): string {
  return table(
    ["name", "in", "type", "meaning"],
    parameters.map(({ name, required, deprecated, schema, description = "", ...parameter }) => [
      fieldName(name, required, deprecated),
      parameter.in,
      typeInWords(schema, records),
      description,
    ]),
  );
}

/** Renders the fields of a record. `page` is the page of the records; empty on that page. */
export function fieldTable({ properties = {}, required = [] }: Schema, page = records): string {
  return table(
    ["field", "type", "meaning"],
    Object.entries(properties).map(([name, schema]) => [
      fieldName(name, required.includes(name), schema.deprecated),
      typeInWords(schema, page),
      schema.description ?? "",
    ]),
  );
}

export function recordLink(name: string, page: string): string {
  return `[${name}](${page}#${name})`;
}

/** Describes a type in words, with links to the records that it names. */
export function typeInWords(schema: Schema, page: string): string {
  const variants = schema.anyOf ?? schema.oneOf;
  if (schema.$ref !== undefined) return recordLink(nameOf(schema.$ref), page);
  if (variants !== undefined) return variants.map((each) => typeInWords(each, page)).join(" or ");
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((each) => `\`${String(each)}\``).join(", ");
  if (schema.items !== undefined) {
    const most = schema.maxItems === undefined ? "" : `, at most ${String(schema.maxItems)}`;
    return `array of ${typeInWords(schema.items, page)}${most}`;
  }
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeInWords(schema.additionalProperties, page)}`;
  }
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any"]);
  return [types.join(" or "), ...limitsOf(schema)].join(", ");
}

function limitsOf({ format, minimum, maximum, maxLength, ...schema }: Schema): string[] {
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return [
    ...(format === undefined ? [] : [format]),
    ...(isBounded ? [`${String(minimum ?? "")} to ${String(maximum)}`] : []),
    ...(maxLength === undefined ? [] : [`at most ${String(maxLength)} characters`]),
    ...(schema.default === undefined ? [] : [`default \`${String(schema.default)}\``]),
  ];
}

function fieldName(name: string, isRequired: boolean, isDeprecated = false): string {
  const notes = [isRequired ? "" : "optional", isDeprecated ? "deprecated" : ""].filter(Boolean);
  return `\`${name}\`${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(titles), line(titles.map(() => "---")), ...rows.map(line)].join("\n");
}
