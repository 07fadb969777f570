import { groups, type Group, type Operation } from "../../declare/operation.ts";
import { recordName } from "../../declare/record.ts";
import { problemsOf } from "../../declare/responses.ts";
import { problemsOfAnyRequest } from "../../declare/problems.ts";
import { escapeHtml } from "../../../kernel/html.ts";
import { reference, type ManualPage } from "./layout.ts";
import { scrolling } from "./markdown.ts";

/** The parts of the OpenAPI document that the reference shows. */
export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface DescribedOperation {
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly schema: Schema;
}

type Plain = string | number | boolean | null;

interface Schema {
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

const recordsPath = "docs/api/records";

/** Returns the path of the page of a group of operations. */
export function groupPath(group: Group): string {
  return `docs/api/${group.toLowerCase().replaceAll(" ", "-")}`;
}

/** Returns the reference: an overview, a page for each group of operations, one of all records, and one of all problems. */
export function referencePages(
  operations: readonly Operation[],
  document: ApiDocument,
): readonly ManualPage[] {
  const pages = groups.map((group): ManualPage => {
    const path = groupPath(group);
    const about = document.tags.find(({ name }) => name === group)?.description ?? "";
    const sections = operations
      .filter((operation) => operation.group === group)
      .map((operation) => operationSection(path, operation, document));
    return {
      ...{ path, title: group },
      body: `<h1>${group}</h1>\n${prose(about)}\n${sections.join("\n")}`,
    };
  });
  return [overviewPage(operations), ...pages, recordsPage(document), problemsPage(operations)];
}

function overviewPage(operations: readonly Operation[]): ManualPage {
  const path = "docs/api";
  const sections = groups.map((group) => {
    const items = operations
      .filter((operation) => operation.group === group)
      .map(({ id, method, path: route, summary }) => {
        const href = reference(path, `${groupPath(group)}#${id}`);
        return `<li><a href="${href}">${escapeHtml(summary)}</a> <code>${method} /v1${escapeHtml(route)}</code></li>`;
      });
    return `<h2>${group}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  return { path, title: "All operations", body: `<h1>All operations</h1>\n${sections.join("\n")}` };
}

function operationSection(path: string, operation: Operation, document: ApiDocument): string {
  const { id, method, summary } = operation;
  const described = document.paths[operation.path]?.[method.toLowerCase()];
  const parameters = (described?.parameters ?? []).map((given) =>
    "$ref" in given ? parameterOf(given.$ref, document) : given,
  );
  const body = operation.body === null ? null : recordName(operation.body);
  const problems = new Map(
    problemsOf(operation).map(({ definition }) => [definition.code, definition]),
  );
  return [
    `<section aria-labelledby="${id}">`,
    `<h2 id="${id}">${escapeHtml(summary)}</h2>`,
    `<p class="call"><code>${method} /v1${escapeHtml(operation.path)}</code></p>`,
    prose(described?.description ?? ""),
    ...(parameters.length === 0 ? [] : ["<h3>Parameters</h3>", parameterTable(path, parameters)]),
    ...(body === null
      ? []
      : ["<h3>Request body</h3>", fieldTable(path, document.components.schemas[body] ?? {})]),
    "<h3>Response</h3>",
    `<p>${String(operation.status)}${responseText(path, operation)}</p>`,
    "<h3>Problems</h3>",
    `<ul>\n${[...problems.values()].map((each) => problemItem(path, each)).join("\n")}\n</ul>`,
    "</section>",
  ].join("\n");
}

function responseText(path: string, { record, csv }: Operation): string {
  if (csv !== null) {
    const columns = Object.entries(csv).map(
      ([name, text]) => `<li><code>${name}</code>: ${escapeHtml(text)}</li>`,
    );
    return `: CSV (RFC 4180) in UTF-8, with these columns:</p>\n<ul>\n${columns.join("\n")}\n</ul>\n<p>The file is complete if the response ends without an error.`;
  }
  return record === null ? ", without a body" : `: ${recordLink(path, recordName(record))}`;
}

function recordsPage({ components, info }: ApiDocument): ManualPage {
  const sections = Object.entries(components.schemas).map(([name, schema]) =>
    [
      `<h2 id="${name}">${name}</h2>`,
      prose(schema.description ?? ""),
      schema.properties === undefined
        ? `<p>${typeOf(recordsPath, schema)}</p>`
        : fieldTable(recordsPath, schema),
    ].join("\n"),
  );
  return {
    path: recordsPath,
    title: "Records",
    body: `<h1>Records</h1>\n${prose(info.description)}\n${sections.join("\n")}`,
  };
}

/** The page that a problem's `type` links to. */
function problemsPage(operations: readonly Operation[]): ManualPage {
  const problems = [...problemsOfAnyRequest, ...operations.flatMap(problemsOf)];
  const definitions = new Map(problems.map(({ definition }) => [definition.code, definition]));
  const entries = [...definitions.values()]
    .sort((left, right) => (left.code < right.code ? -1 : 1))
    .map(
      ({ code, status, title }) =>
        `<h2 id="${code}">${code}</h2>\n<p>${String(status)}: ${escapeHtml(title)}. The <code>detail</code> of the response says what to do next.</p>`,
    );
  return {
    path: "docs/problems",
    title: "Problems",
    body: `<h1>Problems</h1>\n<p>Every error response is a problem document (RFC 9457) with one of these codes.</p>\n${entries.join("\n")}`,
  };
}

function problemItem(
  path: string,
  problem: { readonly status: number; readonly code: string; readonly title: string },
): string {
  const href = reference(path, `docs/problems#${problem.code}`);
  return `<li>${String(problem.status)} <a href="${href}"><code>${problem.code}</code></a>: ${escapeHtml(problem.title)}.</li>`;
}

function parameterTable(path: string, parameters: readonly Parameter[]): string {
  return tableOf(
    ["Name", "In", "Type", "Meaning"],
    parameters.map((parameter) => [
      fieldName(parameter.name, parameter.required, parameter.deprecated),
      parameter.in,
      typeOf(path, parameter.schema),
      prose(parameter.description ?? ""),
    ]),
  );
}

function fieldTable(path: string, { properties = {}, required = [] }: Schema): string {
  return tableOf(
    ["Field", "Type", "Meaning"],
    Object.entries(properties).map(([name, schema]) => [
      fieldName(name, required.includes(name), schema.deprecated),
      typeOf(path, schema),
      prose(schema.description ?? ""),
    ]),
  );
}

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join("")}</tr>`;
  const body = rows.map((row) => cells("td", row)).join("\n");
  return scrolling(
    `<table>\n<thead>${cells("th", titles)}</thead>\n<tbody>\n${body}\n</tbody>\n</table>`,
  );
}

function fieldName(name: string, isRequired: boolean, isDeprecated = false): string {
  const notes = [isRequired ? "" : "optional", isDeprecated ? "deprecated" : ""].filter(Boolean);
  const note = notes.length === 0 ? "" : ` <span class="quiet">${notes.join(", ")}</span>`;
  return `<code>${escapeHtml(name)}</code>${note}`;
}

/** Describes a type in words, with links to the records that it names. */
function typeOf(path: string, schema: Schema): string {
  const variants = schema.anyOf ?? schema.oneOf;
  if (schema.$ref !== undefined) return recordLink(path, lastOf(schema.$ref));
  if (variants !== undefined) return variants.map((each) => typeOf(path, each)).join(" or ");
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map((each) => code(String(each))).join(", ");
  if (schema.items !== undefined) {
    const most = schema.maxItems === undefined ? "" : `, at most ${String(schema.maxItems)}`;
    return `array of ${typeOf(path, schema.items)}${most}`;
  }
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(path, schema.additionalProperties)}`;
  }
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? ["any"]);
  return [types.join(" or "), ...limitsOf(schema)].join(", ");
}

function limitsOf({ format, minimum, maximum, maxLength, ...schema }: Schema): string[] {
  const isBounded = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
  return [
    ...(format === undefined ? [] : [escapeHtml(format)]),
    ...(isBounded ? [`${String(minimum ?? "")} to ${String(maximum)}`] : []),
    ...(maxLength === undefined ? [] : [`at most ${String(maxLength)} characters`]),
    ...(schema.default === undefined ? [] : [`default ${code(String(schema.default))}`]),
  ];
}

function recordLink(path: string, name: string): string {
  return `<a href="${reference(path, `${recordsPath}#${name}`)}">${name}</a>`;
}

function parameterOf(ref: string, { components }: ApiDocument): Parameter {
  const found = components.parameters[lastOf(ref)];
  if (found === undefined) throw new Error(`the document has no parameter ${ref}`);
  return found;
}

function lastOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** Renders a description: paragraphs, with code between backquotes. */
function prose(text: string): string {
  return text
    .split("\n\n")
    .filter((paragraph) => paragraph !== "")
    .map(
      (paragraph) => `<p>${escapeHtml(paragraph).replaceAll(/`([^`]+)`/g, "<code>$1</code>")}</p>`,
    )
    .join("\n");
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}
