// Writes the generated part of src/client from the OpenAPI document: its records, queries, events and operations.
import { groups, type Group } from "../../src/http/declare/operation.ts";
import { docOf, fieldOf, nameOf, recordType, typeOf, type Schema } from "./schema-types.ts";

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}

interface Body {
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

/** The parts of the OpenAPI document that the client needs. */
export interface ClientDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Call extends Described {
  readonly method: string;
  readonly path: string;
  readonly area: string;
  readonly name: string;
}

const head = "// Written by `npm run build` from the OpenAPI document.\n";

/** Returns the generated files by path. `records` names the record of each event's data. */
export function clientFiles(
  document: ClientDocument,
  records: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { schemas } = document.components;
  const calls = callsOf(document);
  // The type of an event has the record of its data.
  const recordTypes = Object.entries(schemas)
    .filter(([name]) => name !== "Event")
    .map(([name, schema]) => recordType(name, schema));
  const folder = "src/client/generated";
  return {
    [`${folder}/records.ts`]: [head, ...recordTypes, eventTypes(records)].join("\n"),
    [`${folder}/queries.ts`]: [
      `${head}import type { WebhookEventType } from "./records.ts";\n`,
      ...calls.flatMap((call) => queryType(call, Object.keys(records))),
    ].join("\n"),
    [`${folder}/operations.ts`]: operationsFile(calls, schemas),
  };
}

/**
 * Returns the names of an operation in the client: its group, and its id without the group's noun, such as
 * `invoices.createBatch` for `createInvoiceBatch`.
 */
export function clientName(
  id: string,
  group: Group,
): { readonly area: string; readonly name: string } {
  const words = group
    .split(" ")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
  const noun = words.join("").replace(/s$/, "");
  const area = words.join("");
  const short = id
    .replace(/^admin(?=[A-Z])/, "")
    .replace(new RegExp(`(?<=[a-z])${noun}s?(?=[A-Z]|$)`), "");
  return { area: lowerFirst(area), name: lowerFirst(short) };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function callsOf({ paths }: ClientDocument): readonly Call[] {
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      ...clientName(operation.operationId, operation.tags[0] as Group),
    })),
  );
  const names = calls.map(({ area, name }) => `${area}.${name}`);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new Error(`two operations are till.${twice} in the client`);
  return calls;
}

function queryParametersOf({ parameters = [] }: Call): readonly Parameter[] {
  return parameters.filter((parameter) => parameter.in === "query");
}

function queryNameOf({ operationId }: Call): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
}

function queryType(call: Call, eventTypes: readonly string[]): string[] {
  const parameters = queryParametersOf(call);
  if (parameters.length === 0) return [];
  const fields = parameters.map(({ name, schema, description = "" }) =>
    fieldOf(name, { ...schema, description }, false, "  ", queryValue(schema, eventTypes)),
  );
  return [
    `/** Parameters of \`${call.operationId}\`. */\nexport interface ${queryNameOf(call)} {\n${fields.join("")}}\n`,
  ];
}

/** A list of values that are separated by commas may be given as an array. */
function queryValue(schema: Schema, eventTypes: readonly string[]): string {
  const listed = listedValues(schema);
  if (listed === null) return typeOf(schema, "");
  if (listed.join() === eventTypes.join()) return "WebhookEventType | readonly WebhookEventType[]";
  const values = listed.map((value) => JSON.stringify(value)).join(" | ");
  return `${values} | readonly (${values})[]`;
}

/** The values of a parameter that takes several of them, separated by commas; null for other parameters. */
export function listedValues({ pattern }: Pick<Schema, "pattern">): readonly string[] | null {
  const values = /^\^\(([\w|.\\-]+)\)\(,/.exec(pattern ?? "")?.[1];
  return values?.replaceAll("\\", "").split("|") ?? null;
}

function eventTypes(records: Readonly<Record<string, string>>): string {
  const fields = Object.entries(records).map(([type, name]) => `  readonly "${type}": ${name};\n`);
  return `/** The record in \`data\`, by event type. */
export interface WebhookData {
${fields.join("")}}

export type WebhookEventType = keyof WebhookData;

/** An event of these types, by default of any: compare \`type\`, and \`data\` has its type. */
export type Event<Type extends WebhookEventType = WebhookEventType> = {
  readonly [Each in Type]: Omit<WebhookMessage, "id" | "type" | "data" | "sequence"> & {
    /** The event's id, the same for every attempt and replay: skip ids that you have stored. */
    readonly id: string;
    readonly type: Each;
    /** The object at the time of the event. */
    readonly data: WebhookData[Each] & WebhookObject;
  };
}[Type];

/** An event as it is delivered to an endpoint. */
export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  readonly [Each in Type]: Event<Each> & Pick<WebhookMessage, "sequence">;
}[Type];
`;
}

function operationsFile(
  calls: readonly Call[],
  schemas: ClientDocument["components"]["schemas"],
): string {
  const areas = groups
    .map((group) => clientName("", group).area)
    .filter((area) => calls.some((call) => call.area === area));
  const methods = calls.map((call) => ({ call, text: methodOf(call, schemas) }));
  const texts = methods.map(({ text }) => text).join("");
  const used = (names: readonly string[]) =>
    names.filter((name) =>
      new RegExp(`\\b${name}\\b(?!\\()`).test(texts.replaceAll(/\/\*\*[^]*?\*\//g, "")),
    );
  const queries = calls.filter((call) => queryParametersOf(call).length > 0).map(queryNameOf);
  const interfaces = areas.map((area) => {
    const members = methods.filter(({ call }) => call.area === area).map(({ text }) => text);
    return `export interface ${interfaceOf(area)} {\n${members.join("\n")}}\n`;
  });
  const entries = areas.map((area) => {
    const members = calls.filter((call) => call.area === area);
    return `  ${area}: {\n${members.map(entryOf).join("")}  },\n`;
  });
  return [
    `${head}import type { Pages } from "../pages.ts";`,
    'import type { CallOptions, ChangeOptions, OperationCall, WriteOptions } from "../transport.ts";',
    `import type { ${used(queries).join(", ")} } from "./queries.ts";`,
    `import type { ${used(Object.keys(schemas)).join(", ")} } from "./records.ts";`,
    "",
    "/** The operations of the API, by area. */",
    `export interface Till {\n${areas.map((area) => `  readonly ${area}: ${interfaceOf(area)};\n`).join("")}}\n`,
    ...interfaces,
    "/** The requests of the operations, by area and method. */",
    `export const operations: Readonly<Record<string, Readonly<Record<string, OperationCall>>>> = {\n${entries.join("")}};\n`,
  ].join("\n");
}

function interfaceOf(area: string): string {
  return `${area.charAt(0).toUpperCase()}${area.slice(1)}Operations`;
}

function methodOf(call: Call, schemas: ClientDocument["components"]["schemas"]): string {
  const { operationId, method, path, summary, description, requestBody } = call;
  const body = requestBody?.content?.["application/json"]?.schema.$ref;
  const isWithHeader = (name: string) =>
    call.parameters?.some(({ $ref }) => $ref?.endsWith(`/${name}`) === true) === true;
  const options = isWithHeader("IdempotencyKey")
    ? "WriteOptions"
    : isWithHeader("IfMatch")
      ? "ChangeOptions"
      : "CallOptions";
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name ?? ""}: string`),
    ...(body === undefined
      ? []
      : [`body${requestBody?.required === true ? "" : "?"}: ${nameOf(body)}`]),
    ...(queryParametersOf(call).length === 0 ? [] : [`query?: ${queryNameOf(call)}`]),
    `options?: ${options}`,
  ];
  const doc = docOf(
    { description: `${summary}: \`${operationId}\`, \`${method} /v1${path}\`.\n\n${description}` },
    "  ",
  );
  return `${doc}  ${call.name}(${parameters.join(", ")}): ${resultOf(call, schemas)};\n`;
}

function resultOf(call: Call, schemas: ClientDocument["components"]["schemas"]): string {
  if (isText(call)) return "Promise<string>";
  const record = answerOf(call);
  if (record === null) return "Promise<undefined>";
  const items = schemas[record]?.properties?.["data"]?.items?.$ref;
  return cursorOf(call) === null || items === undefined
    ? `Promise<${record}>`
    : `Pages<${record}, ${nameOf(items)}>`;
}

/** The record of a successful answer; null without a body. */
function answerOf({ responses }: Call): string | null {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const ref = success?.content?.["application/json"]?.schema.$ref;
  return ref === undefined ? null : nameOf(ref);
}

/** Whether a successful answer is a CSV file. */
function isText({ responses }: Call): boolean {
  return Object.values(responses).some(({ content = {} }) => "text/csv" in content);
}

/** The parameter that takes the cursor of a list; null for other operations. */
function cursorOf(call: Call): string | null {
  const names = queryParametersOf(call).map(({ name }) => name);
  return ["cursor", "after"].find((name) => names.includes(name)) ?? null;
}

function entryOf(call: Call): string {
  const cursor = cursorOf(call);
  const has = (name: string) =>
    call.parameters?.some(({ $ref }) => $ref?.endsWith(`/${name}`) === true) === true;
  const parts = [
    `id: "${call.operationId}"`,
    `method: "${call.method}"`,
    `path: "${call.path}"`,
    ...(call.requestBody === undefined ? [] : ["hasBody: true"]),
    ...(queryParametersOf(call).length === 0 ? [] : ["hasQuery: true"]),
    ...(has("IdempotencyKey") ? ["isIdempotent: true"] : []),
    ...(isText(call) ? ["isText: true"] : []),
    ...(cursor === null ? [] : [`cursor: "${cursor}"`]),
  ];
  return `    ${call.name}: { ${parts.join(", ")} },\n`;
}
