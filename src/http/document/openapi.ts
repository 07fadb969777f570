import { readFileSync } from "node:fs";
import { idPattern } from "../../kernel/id.ts";
import { eventCatalogue, eventTypes, type EventType } from "../../platform/events/catalogue.ts";
import { eventApiVersion } from "../../platform/events/outbox.ts";
import { recordOf } from "../../platform/events/reference.ts";
import { programFile } from "../../platform/files.ts";
import {
  groups,
  mayLackBody,
  pathParameters,
  type CsvColumns,
  type Group,
  type Operation,
} from "../declare/operation.ts";
import { CrossSiteForm, ProblemRecord, problemsOfAnyRequest } from "../declare/problems.ts";
import { describeParameter, describeSchema, recordName, recordSchemas } from "../declare/record.ts";
import {
  problemsOf,
  responseHeaders,
  responsesOf,
  type DeclaredResponse,
  type ResponseHeader,
} from "../declare/responses.ts";

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

/** Returns the parameters of an operation: those of its path and its query, and references to its headers. */
function parametersOf(operation: Operation, example: OperationExample): Json[] {
  return [
    ...pathItemParameters(operation, example),
    ...queryParameters(operation, example),
    ...headerParametersOf(operation),
  ];
}

function pathItemParameters(operation: Operation, example: OperationExample): Json[] {
  return [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => {
    const name = match[1] as keyof typeof pathParameters;
    const kind = pathParameters[name];
    const pattern = kind === null ? undefined : idPattern(kind).source;
    return {
      name,
      in: "path",
      required: true,
      description: describeParameter(name),
      ...exampleOf(example.path?.[name]),
      schema: { type: "string", ...(pattern === undefined ? {} : { pattern }) },
    };
  });
}

function queryParameters(operation: Operation, example: OperationExample): Json[] {
  return Object.entries(operation.query).map(([name, schema]) => {
    const {
      deprecated,
      description = describeParameter(name),
      ...described
    } = describeSchema(schema);
    const sent = example.query?.[name];
    const isNumber = sent !== undefined && described["type"] === "integer";
    return {
      name,
      in: "query",
      required: false,
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
      ...exampleOf(isNumber ? Number(sent) : sent),
      schema: described,
    };
  });
}

function headerParametersOf(operation: Operation): Json[] {
  const names: (keyof typeof headerParameters)[] = [];
  if (operation.idempotent) names.push("IdempotencyKey");
  if (operation.conditional) names.push("IfMatch");
  if (operation.method === "GET" && operation.csv === null) names.push("IfNoneMatch");
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** The header parameters of the operations, by component name. */
const headerParameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    required: false,
    description:
      "Makes retries safe: a repeated request gets the first response, which is kept for 24 hours.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    required: false,
    description:
      "The ETag that was read. If the object's ETag differs, the change is refused with 412.",
    schema: { type: "string" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    required: false,
    description: "A known ETag. If it is still current, the response is 304 without a body.",
    schema: { type: "string" },
  },
};

const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the requests that Till sends to webhook endpoints, by event type; `examples` has a body for each type. */
function webhooksSection(examples: Readonly<Record<string, unknown>>): Json {
  const meanings = new Map(Object.values(eventCatalogue).flatMap((group) => Object.entries(group)));
  return Object.fromEntries(
    eventTypes.map((type) => [
      type,
      { post: webhookOf(type, meanings.get(type) ?? "", examples[type]) },
    ]),
  );
}

function webhookOf(type: EventType, meaning: string, example: unknown): Json {
  const body = {
    allOf: [
      schema("WebhookMessage"),
      {
        type: "object",
        properties: {
          type: { const: type },
          data: { allOf: [schema(recordOf(type)), schema("WebhookObject")] },
        },
        required: ["type", "data"],
      },
    ],
  };
  return {
    operationId: `webhook.${type}`,
    tags: ["Webhooks"],
    summary: type,
    description: meaning,
    security: [],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: body, ...exampleOf(example) },
      },
    },
    responses: {
      "2XX": { description: "The delivery succeeded. Any other answer is retried." },
    },
  };
}

/** The schemas that all webhooks have in common, by name. */
const webhookSchemas: Readonly<Record<string, Json>> = {
  WebhookMessage: {
    type: "object",
    properties: {
      id: {
        type: "string",
        description:
          "The event's id, the same for every attempt and replay: the header `webhook-id`.",
      },
      type: { type: "string", enum: eventTypes, description: "The event type." },
      timestamp: {
        type: "string",
        format: "date-time",
        description: "Time of the event: ISO 8601, UTC.",
      },
      data: { type: "object", description: "The object at the time of the event." },
      apiVersion: {
        type: "string",
        enum: [eventApiVersion],
        description: "The version of the body's format, fixed when the endpoint is created.",
      },
      organizationId: { type: "string", description: "The organization's id." },
      sequence: {
        type: "integer",
        description: "Number of the event among those of the endpoint, without gaps.",
      },
    },
    required: ["id", "type", "timestamp", "data", "apiVersion", "organizationId", "sequence"],
  },
  WebhookObject: {
    type: "object",
    properties: {
      objectVersion: {
        type: "integer",
        description:
          "Increased by each change of the object. Ignore an event with a lower one than you have.",
      },
      previousStatus: {
        type: "string",
        description:
          "The status before the event; absent for a new object, and for one without a status.",
      },
    },
    required: ["objectVersion"],
  },
};

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

interface Examples {
  /** By operation id. */
  readonly operations: Readonly<Record<string, OperationExample>>;
  /** The webhook's body, by event type. */
  readonly events: Readonly<Record<string, { readonly data: unknown }>>;
}

/** Reads the recorded examples: `npm run docs:examples` and `npm run docs` write them. */
export function readExamples(): Examples {
  const read = (name: string) =>
    JSON.parse(readFileSync(programFile(`http/document/examples/${name}.json`), "utf8")) as unknown;
  return {
    operations: read("operations") as Examples["operations"],
    events: read("events") as Examples["events"],
  };
}

/** Returns the part of a parameter or of a body that has its example; empty without one. */
function exampleOf(value: unknown): { readonly example?: unknown } {
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
function addFieldExamples(
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
