// Writes the JSON Schemas of the OpenAPI document as TypeScript types.

/** The parts of JSON Schema that the records use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
}

const plain: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** Returns a record as an exported interface, or as a type if it is not an object. */
export function recordType(name: string, schema: Schema): string {
  const doc = docOf(schema, "");
  if (schema.properties === undefined)
    return `${doc}export type ${name} = ${typeOf(schema, "")};\n`;
  return `${doc}export interface ${name} ${fieldsOf(schema, "")}\n`;
}

/** Returns the name of the record that a reference names. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** Returns the TypeScript type of a schema. Throws for a schema of a form that no record has so far. */
export function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, items, type } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (anyOf !== undefined) return anyOf.map((each) => typeOf(each, indent)).join(" | ");
  if (Array.isArray(type))
    return type.map((each) => typeOf({ type: String(each) }, indent)).join(" | ");
  if (type === "array") {
    const item = typeOf(items ?? {}, indent);
    return `readonly ${/[|&]/.test(item) ? `(${item})` : item}[]`;
  }
  if (type === "object") {
    if (schema.properties !== undefined) return fieldsOf(schema, indent);
    const { additionalProperties } = schema;
    const value =
      typeof additionalProperties === "object" ? typeOf(additionalProperties, indent) : "unknown";
    return `Readonly<Record<string, ${value}>>`;
  }
  if (type === undefined) return "unknown";
  const known = plain[String(type)];
  if (known === undefined) throw new Error(`the client knows no type ${String(type)}`);
  return known;
}

function fieldsOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    return fieldOf(name, schema, isRequired, inner);
  });
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}${indent}}`;
}

/** Returns a field with its description. Optional fields accept undefined, which JSON omits. */
export function fieldOf(
  name: string,
  schema: Schema,
  isRequired: boolean,
  indent: string,
  type = typeOf(schema, indent),
): string {
  const undefinedToo = isRequired ? "" : " | undefined";
  return `${docOf(schema, indent)}${indent}readonly ${name}${isRequired ? "" : "?"}: ${type}${undefinedToo};\n`;
}

/** Returns a description as a comment; empty without one. */
export function docOf({ description = "", deprecated = false }: Schema, indent: string): string {
  const words = [description, ...(deprecated ? ["@deprecated"] : [])].filter((each) => each !== "");
  if (words.length === 0) return "";
  const lines = words.join("\n\n").replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ""} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
