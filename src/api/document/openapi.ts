import type { CsvColumns } from "../declare/csv.ts";
import { groups, mayLackBody, type Group, type Operation } from "../declare/operation.ts";
import { CrossSiteForm, ProblemRecord, problemsOfAnyRequest } from "../declare/problems.ts";
import { recordName, recordSchemas } from "../declare/record.ts";
import {
  problemsOf,
  responseHeaders,
  responsesOf,
  type DeclaredResponse,
  type ResponseHeader,
} from "../declare/responses.ts";
import { addFieldExamples, exampleOf, readExamples, type OperationExample } from "./examples.ts";
import { headerParameters, parametersOf } from "./parameters.ts";
import { webhooksSection, webhookSchemas } from "./webhooks.ts";

type Json = Record<string, unknown>;

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

function headersOf(names: readonly ResponseHeader[]): Json {
  return Object.fromEntries(names.map((name) => [name, reference("headers", name)]));
}

function describeSuccess(
  operation: Operation,
  { headers }: DeclaredResponse,
  example: OperationExample,
): Json {
  if (operation.csv !== null) {
    const content = csvContent(operation.csv);
    return { description: operation.summary, headers: headersOf(headers), content };
  }
  if (operation.record === null)
    return { description: "Success, without a body.", headers: headersOf(headers) };
  const schema = reference("schemas", recordName(operation.record));
  return {
    description: operation.summary,
    headers: headersOf(headers),
    content: { "application/json": { schema, ...exampleOf(example.response) } },
  };
}

function describeNotModified({ headers }: DeclaredResponse): Json {
  return {
    description: "`If-None-Match` names the current ETag; no body.",
    headers: headersOf(headers),
  };
}

function describeProblems({ problems, headers }: DeclaredResponse): Json {
  return {
    description: problems
      .map(({ definition }) => `\`${definition.code}\`: ${definition.title}.`)
      .join(" "),
    headers: headersOf(headers),
    content: {
      "application/problem+json": { schema: reference("schemas", recordName(ProblemRecord)) },
    },
  };
}

/** Names a response by its codes: `rate_limited` → RateLimited; several are joined by Or. */
function responseName({ status, problems }: DeclaredResponse): string {
  if (status === 304) return "NotModified";
  return problems
    .map(({ definition }) =>
      definition.code
        .split("_")
        .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
        .join(""),
    )
    .join("Or");
}

/** Returns the responses that two or more operations have in common, by component name. */
function sharedResponses(operations: readonly Operation[]): ReadonlyMap<string, Json> {
  const uses = new Map<string, { name: string; response: Json; count: number }>();
  for (const declared of operations.flatMap(responsesOf)) {
    if (declared.status < 300) continue;
    const response =
      declared.status === 304 ? describeNotModified(declared) : describeProblems(declared);
    const key = JSON.stringify(response);
    const use = uses.get(key) ?? { name: responseName(declared), response, count: 0 };
    use.count += 1;
    uses.set(key, use);
  }
  const shared = new Map<string, Json>();
  const byCount = [...uses.values()].sort((one, other) => other.count - one.count);
  for (const { name, response, count } of byCount) {
    // If the same problems occur with different headers, the rarer variant is written out in its operations.
    if (count > 1 && !shared.has(name)) shared.set(name, response);
  }
  return new Map([...shared].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function describeResponses(
  operation: Operation,
  shared: ReadonlyMap<string, Json>,
  example: OperationExample,
): Json {
  return Object.fromEntries(
    responsesOf(operation).map((declared) => {
      const { status } = declared;
      if (status < 300) return [String(status), describeSuccess(operation, declared, example)];
      const response = status === 304 ? describeNotModified(declared) : describeProblems(declared);
      const name = responseName(declared);
      const isShared = JSON.stringify(shared.get(name)) === JSON.stringify(response);
      return [String(status), isShared ? reference("responses", name) : response];
    }),
  );
}

function describe(operation: Operation): string {
  const permission = ("permission" in operation.access ? operation.access.permission : null) ?? "";
  const needs = {
    public: "Needs no credential.",
    authenticated: "Needs a credential.",
    organization: `Needs the permission \`${permission}\` in the organization.`,
    platform: `Needs the platform permission \`${permission}\`.`,
  }[operation.access.kind];
  return operation.description === null ? needs : `${operation.description}\n\n${needs}`;
}

/** The API's address with default settings on the local machine, used by the document in docs/. */
const localServer = "http://127.0.0.1:8080/v1";

/**
 * Builds the OpenAPI 3.1 document of the operations. `server` is the URL prefix of all paths, up to the version
 * segment; one that starts with a slash is relative to the host that serves the document.
 */
export function openApiDocument(
  operations: readonly Operation[],
  version: string,
  server = localServer,
): Json {
  const shared = sharedResponses(operations);
  const schemas = recordSchemas();
  const examples = readExamples();
  addFieldExamples(schemas, operations, examples);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const { body } = operation;
    const example = examples.operations[operation.id] ?? {};
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.group],
      summary: operation.summary,
      description: describe(operation),
      security: operation.access.kind === "public" ? [] : [{ accessToken: [] }, { serviceKey: [] }],
      parameters: parametersOf(operation, example),
      ...(body === null
        ? {}
        : {
            requestBody: {
              required: !mayLackBody(operation),
              content: {
                "application/json": {
                  schema: reference("schemas", recordName(body)),
                  ...exampleOf(example.request),
                },
              },
            },
          }),
      responses: describeResponses(operation, shared, example),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Till",
      version,
      description:
        "Invoices paid in crypto tokens directly into the merchant's own wallets. Amounts are decimal strings, times are ISO 8601 with milliseconds and Z, errors are RFC 9457 problem documents.",
      license,
    },
    servers: [{ url: server }],
    tags: groups.map((name) => ({ name, description: groupDescriptions[name] })),
    paths,
    webhooks: webhooksSection(examples.events),
    components: {
      securitySchemes,
      parameters: headerParameters,
      headers: responseHeaders,
      responses: Object.fromEntries(shared),
      schemas: {
        ...schemas,
        ...webhookSchemas,
        [recordName(ProblemRecord)]: problemSchema(schemas, operations),
      },
    },
  };
}

/** Returns the schema of problems with every code that any request may get. */
function problemSchema(
  schemas: Readonly<Record<string, Json>>,
  operations: readonly Operation[],
): Json {
  const schema = schemas[recordName(ProblemRecord)] as { readonly properties: Json };
  const problems = [...problemsOfAnyRequest, CrossSiteForm, ...operations.flatMap(problemsOf)];
  const codes = new Set(problems.map(({ definition }) => definition.code));
  const code = {
    type: "string",
    enum: [...codes].sort(),
    description: "Stable; base client decisions on it. Later versions may add codes.",
  };
  return { ...schema, properties: { ...schema.properties, code } };
}

const license = { name: "All rights reserved", identifier: "LicenseRef-All-Rights-Reserved" };

const groupDescriptions: Readonly<Record<Group, string>> = {
  Auth: "Registration, sessions and passwords of dashboard users.",
  Organizations: "Organizations and their verification.",
  Users: "Members of an organization and invitations.",
  "API Keys": "Keys with which programs act for an organization.",
  Customers: "The merchant's customers.",
  Networks: "The enabled networks with their tokens and required confirmations.",
  Wallets: "Addresses and extended public keys that receive payments.",
  Invoices: "Requests for payment.",
  Checkout: "The payer's view of an invoice; needs no credential.",
  Payments: "Payments of invoices, and transfers that await a decision.",
  Webhooks: "Webhook endpoints, their deliveries, and the events themselves.",
  Usage: "The organization's usage of its plan.",
  Billing: "Plans, the organization's subscription and the platform's invoices to it.",
  Analytics: "Metrics and time series of an organization's payments and invoices.",
  "Audit Logs": "Records of all changes: actor, time, and values before and after.",
  Admin:
    "Platform administration across organizations; only for platform admins and platform API keys.",
};

const securitySchemes = {
  accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  serviceKey: { type: "apiKey", in: "header", name: "X-Service-Key" },
};

/** Describes the content of a CSV response. Its schema is that of the whole text, whose description has the columns. */
function csvContent(columns: CsvColumns) {
  const described = Object.entries(columns).map(([name, text]) => `- \`${name}\`: ${text}`);
  const description = `CSV (RFC 4180) in UTF-8, with the columns:\n\n${described.join("\n")}`;
  const example = `${Object.keys(columns).join(",")}\r\n`;
  return { "text/csv": { schema: { type: "string", description }, example } };
}
