// Writes the reference of the API as Markdown: docs/api.md, a page for each group of operations in docs/api, all records,
// and all problems. An instance serves the same files at /docs.
import {
  listed,
  permissions,
  roleMay,
  roles,
  type Permission,
  type Rule,
} from "../../src/http/declare/permissions.ts";
import { groups, type Group, type Operation } from "../../src/http/declare/operation.ts";
import { CrossSiteForm, problemsOfAnyRequest } from "../../src/http/declare/problems.ts";
import { recordName } from "../../src/http/declare/record.ts";
import { problemsOf } from "../../src/http/declare/responses.ts";
import type { OperationExample } from "../../src/http/document/openapi.ts";
import type { ProblemDefinition } from "../../src/kernel/errors.ts";
import { clientName } from "./client.ts";
import { fieldTable, parameterTable, recordLink, typeInWords, type Schema } from "./fields.ts";
import { snippetsOf } from "./snippets.ts";

/** The parts of the OpenAPI document that the reference shows. */
export interface ReferenceDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Described {
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

const generated =
  "<!-- Generated from the declarations of the operations and their recorded examples. -->";

/** Problems that an operation page only names, because every operation of its kind has them. */
const common = new Set([
  ...["invalid_request", "unauthenticated", "forbidden", "not_found", "precondition_failed"],
  ...["payload_too_large", "unsupported_media_type", "idempotency_key_reused", "rate_limited"],
  ...["idempotency_key_in_flight", "internal_error", "store_unavailable"],
  "organization_suspended",
]);

/** Returns the pages of the reference by path. Throws if a problem of an operation lacks its remedy. */
export async function referencePages(
  operations: readonly Operation[],
  document: ReferenceDocument,
  examples: Readonly<Record<string, OperationExample>>,
): Promise<Readonly<Record<string, string>>> {
  const pages: Record<string, string> = {
    "docs/api.md": overviewPage(operations),
    "docs/api/records.md": recordsPage(document),
    "docs/problems.md": problemsPage(operations),
  };
  for (const group of groups) {
    const about = document.tags.find(({ name }) => name === group)?.description ?? "";
    const sections: string[] = [];
    for (const operation of operations.filter((each) => each.group === group)) {
      sections.push(await operationSection(operation, document, examples[operation.id] ?? {}));
    }
    const head = [generated, `# ${group}`, about, "[All operations](../api.md)"];
    pages[`docs/api/${fileOf(group)}`] = `${[...head, ...sections].join("\n\n")}\n`;
  }
  return pages;
}

function fileOf(group: Group): string {
  return `${group.toLowerCase().replaceAll(" ", "-")}.md`;
}

function overviewPage(operations: readonly Operation[]): string {
  const sections = groups.map((group) => {
    const rows = operations
      .filter((operation) => operation.group === group)
      .map(({ id, method, path, summary }) => {
        const link = `[${summary}](api/${fileOf(group)}#${id})`;
        return `| ${link} | \`${id}\` | \`${method} /v1${path}\` |`;
      });
    return [
      `## ${group}\n`,
      "| operation | id | request |",
      "| --- | --- | --- |",
      ...rows,
      "",
    ].join("\n");
  });
  return [
    generated,
    "",
    "# All operations",
    "",
    `Each page has the fields, the callers, an example in curl, TypeScript, Python and PHP, and the errors. See also the [records](api/records.md) and the [problems](problems.md). The document for code generators is \`docs/openapi.json\`, which an instance serves at \`/v1/openapi.json\`.`,
    "",
    ...sections,
  ].join("\n");
}

async function operationSection(
  operation: Operation,
  document: ReferenceDocument,
  example: OperationExample,
): Promise<string> {
  const { id, method, path, summary, description, body, group } = operation;
  const { area, name } = clientName(id, group);
  const given = document.paths[path]?.[method.toLowerCase()]?.parameters ?? [];
  const parameters = given.map((each) =>
    "$ref" in each ? parameterOf(each.$ref, document) : each,
  );
  const request = body === null ? null : document.components.schemas[recordName(body)];
  const paragraphs = [
    `<a id="${id}"></a>`,
    `## ${summary}`,
    `\`${method} /v1${path}\``,
    `\`${id}\`, in the client \`till.${area}.${name}\``,
    ...(description === null ? [] : [description]),
    `**Callers:** ${callersOf(operation)}`,
    ...(parameters.length === 0 ? [] : ["**Parameters**", parameterTable(parameters)]),
    ...(request == null ? [] : ["**Body**", fieldTable(request)]),
    `**Response:** ${responseOf(operation)}`,
    await exampleText(operation, example, parameters),
    `**Errors**`,
    errorsOf(operation),
  ];
  return paragraphs.join("\n\n");
}

function callersOf({ access, errors }: Operation): string {
  if (access.kind === "public") return "everybody; no credential is needed.";
  if (access.kind === "authenticated") {
    if (errors.some(({ definition }) => definition.code === "user_needed"))
      return "every user. API keys are refused.";
    if (access.permission === null) return "every user and every API key.";
    return `every user, and ${keysWith(access.permission)}.`;
  }
  const { permission } = access;
  const { means } = permissions[permission];
  const link = `([\`${permission}\`](../permissions.md))`;
  if (access.kind === "platform")
    return `admins of the platform, and its API keys with the scope \`platform\` ${link}.`;
  const able = roles.filter((role) => roleMay(role, permission)).map((role) => `\`${role}\``);
  const members =
    able.length === roles.length ? "every member" : `members with the role ${listed(able)}`;
  return `${members}, and ${keysWith(permission)} ${link}: ${means.charAt(0).toLowerCase()}${means.slice(1)}.`;
}

/** Names the API keys that have a permission. */
function keysWith(permission: Permission): string {
  const rule: Rule = permissions[permission];
  return "noKey" in rule
    ? "no API key"
    : `API keys with the scope ${listed(rule.scopes.map((each) => `\`${each}\``))}`;
}

function responseOf({ status, record, csv }: Operation): string {
  if (csv !== null) {
    const columns = Object.entries(csv).map(([name, text]) => `- \`${name}\`: ${text}`);
    return `${String(status)}, CSV (RFC 4180) in UTF-8. The file is complete if the response ends without an error. Its columns:\n\n${columns.join("\n")}`;
  }
  return record === null
    ? `${String(status)}, without a body.`
    : `${String(status)} with ${recordLink(recordName(record), "records.md")}.`;
}

async function exampleText(
  operation: Operation,
  example: OperationExample,
  parameters: readonly Parameter[],
): Promise<string> {
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const parts = (await snippetsOf(operation, example, schemas)).map(
    ({ title, fence, code }, place) => folded(title, fence, code, place === 0, operation.id),
  );
  if (example.response !== undefined) {
    parts.push(folded("Response", "json", JSON.stringify(example.response, null, 2), true));
  }
  return parts.join("\n\n");
}

/** A block that the reader can open. Of the blocks with the same name, one is open. */
function folded(title: string, fence: string, code: string, isOpen: boolean, name = ""): string {
  const attributes = `${name === "" ? "" : ` name="${name}"`}${isOpen ? " open" : ""}`;
  return `<details${attributes}><summary>${title}</summary>\n\n\`\`\`${fence}\n${code}\n\`\`\`\n\n</details>`;
}

function errorsOf(operation: Operation): string {
  const problems = problemsOf(operation).map(({ definition }) => definition);
  const own = problems.filter(({ code }) => !common.has(code));
  const others = problems.filter(({ code }) => common.has(code));
  const rows = own.map(
    (each) =>
      `| ${String(each.status)} | ${problemLink(each)} | ${each.title}. ${remedyOf(each)} |`,
  );
  return [
    ...(rows.length === 0
      ? []
      : ["| status | code | meaning, and what to do |", "| --- | --- | --- |", ...rows, ""]),
    `${rows.length === 0 ? "The" : "And the"} errors of every operation of this kind: ${others.map(problemLink).join(", ")}.`,
  ].join("\n");
}

function problemLink({ code }: ProblemDefinition): string {
  return `[\`${code}\`](../problems.md#${code})`;
}

function remedyOf({ code, remedy }: ProblemDefinition): string {
  if (remedy === undefined) {
    throw new Error(`The problem ${code} has no remedy: add \`remedy\` to its definition.`);
  }
  return remedy;
}

function recordsPage({ components, info }: ReferenceDocument): string {
  const sections = Object.entries(components.schemas).map(([name, schema]) =>
    [
      `<a id="${name}"></a>`,
      `## ${name}`,
      ...(schema.description === undefined ? [] : [schema.description]),
      schema.properties === undefined ? typeInWords(schema, "") : fieldTable(schema, ""),
    ].join("\n\n"),
  );
  return `${[generated, "# Records", info.description, ...sections].join("\n\n")}\n`;
}

/** The page that a problem's `type` links to. */
function problemsPage(operations: readonly Operation[]): string {
  const problems = [...problemsOfAnyRequest, CrossSiteForm, ...operations.flatMap(problemsOf)];
  const definitions = new Map(problems.map(({ definition }) => [definition.code, definition]));
  const entries = [...definitions.values()]
    .sort((left, right) => (left.code < right.code ? -1 : 1))
    .map((definition) => {
      const { code, status, title } = definition;
      const raising = operations.filter(({ errors }) =>
        errors.some((each) => each.definition.code === code),
      );
      const links = raising.map(({ id, group }) => `[\`${id}\`](api/${fileOf(group)}#${id})`);
      const users = links.length === 0 ? [] : [`Operations: ${links.join(", ")}.`];
      return [
        `## ${code}`,
        `**${String(status)}: ${title}.** ${remedyOf(definition)}`,
        ...users,
      ].join("\n\n");
    });
  const intro =
    "Every error response is a problem document (RFC 9457). Decide by its `code`: `title` and `detail` are for people, and `detail` names the values of this request. `errors` names each wrong field. Later versions may add codes. See [idempotency and errors](guides/errors.md).";
  return `${[generated, "# Problems", intro, ...entries].join("\n\n")}\n`;
}

function parameterOf(ref: string, { components }: ReferenceDocument): Parameter {
  const found = components.parameters[ref.slice(ref.lastIndexOf("/") + 1)];
  if (found === undefined) throw new Error(`the document has no parameter ${ref}`);
  return found;
}
