import { z } from "zod";
import type { ProblemClass } from "../kernel/errors.ts";
import { InvalidRequest, NotFound } from "../kernel/errors.ts";
import { idPattern } from "../kernel/id.ts";
import { StoreUnavailable } from "../platform/database/index.ts";
import { groups, mayLackBody, pathParameters, type Operation } from "./operation.ts";
import {
  Forbidden,
  IdempotencyKeyInFlight,
  IdempotencyKeyReused,
  InternalError,
  OrganizationSuspended,
  PayloadTooLarge,
  PreconditionFailed,
  ProblemRecord,
  RateLimited,
  Unauthenticated,
  UnsupportedMediaType,
} from "./problems.ts";
import { recordName, recordSchemas } from "./record.ts";

type Json = Record<string, unknown>;

/** Every problem that an operation may answer: its own, and those of every operation of its kind. */
export function problemsOf(operation: Operation): readonly ProblemClass[] {
  const isWrite = operation.method !== "GET";
  const all: ProblemClass[] = [InvalidRequest, RateLimited, InternalError, StoreUnavailable];
  all.push(...operation.errors);
  if (operation.access.kind !== "public") all.push(Unauthenticated, Forbidden);
  if (
    (operation.access.kind === "organization" || operation.access.kind === "authenticated") &&
    isWrite
  )
    all.push(OrganizationSuspended);
  if (operation.path.includes("{")) all.push(NotFound);
  if (operation.body !== null || operation.method === "POST")
    all.push(PayloadTooLarge, UnsupportedMediaType);
  if (operation.conditional) all.push(PreconditionFailed);
  if (operation.idempotent) all.push(IdempotencyKeyReused, IdempotencyKeyInFlight);
  return [...new Set(all)].sort(
    (left, right) =>
      left.definition.status - right.definition.status ||
      left.definition.code.localeCompare(right.definition.code),
  );
}

const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

function pathItemParameters(operation: Operation): Json[] {
  return [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => {
    const name = match[1] as keyof typeof pathParameters;
    const kind = pathParameters[name];
    const pattern = kind === null ? undefined : idPattern(kind).source;
    return {
      name,
      in: "path",
      required: true,
      schema: { type: "string", ...(pattern === undefined ? {} : { pattern }) },
    };
  });
}

function queryParameters(operation: Operation): Json[] {
  return Object.entries(operation.query).map(([name, schema]) => {
    const {
      $schema: _dialect,
      deprecated,
      description,
      ...described
    } = z.toJSONSchema(schema, {
      io: "input",
    }) as Json;
    return {
      ...{ name, in: "query", required: false },
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
      schema: described,
    };
  });
}

function headerParameters(operation: Operation): Json[] {
  const headers: Json[] = [];
  if (operation.idempotent) headers.push(parameter("IdempotencyKey"));
  if (operation.conditional) headers.push(parameter("IfMatch"));
  if (operation.method === "GET" && operation.query["cursor"] === undefined)
    headers.push(parameter("IfNoneMatch"));
  return headers;
}

function responses(operation: Operation): Json {
  const success =
    operation.record === null
      ? { description: "Done; no body." }
      : {
          description: operation.summary,
          content: {
            "application/json": {
              schema: { $ref: `#/components/schemas/${recordName(operation.record)}` },
            },
          },
        };
  const byStatus = new Map<number, ProblemClass[]>();
  for (const problem of problemsOf(operation)) {
    const status = problem.definition.status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), problem]);
  }
  const failures = [...byStatus].map(([status, problems]) => [
    String(status),
    {
      description: problems
        .map(({ definition }) => `\`${definition.code}\`: ${definition.title}.`)
        .join(" "),
      content: {
        "application/problem+json": {
          schema: { $ref: `#/components/schemas/${recordName(ProblemRecord)}` },
        },
      },
    },
  ]);
  return { [String(operation.status)]: success, ...(Object.fromEntries(failures) as Json) };
}

function describe(operation: Operation): string {
  const needs = {
    public: "Needs no credential.",
    authenticated: "Needs a credential.",
    organization: `Needs the permission \`${"permission" in operation.access ? operation.access.permission : ""}\` in the organization.`,
    platform: `Needs the permission \`${"permission" in operation.access ? operation.access.permission : ""}\` of the platform.`,
  }[operation.access.kind];
  return operation.description === null ? needs : `${operation.description}\n\n${needs}`;
}

/** The OpenAPI 3.1 document of the operations. It names no server: paths hold on any instance. */
export function openApiDocument(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = `/v1${operation.path}`;
    const body = operation.body;
    (paths[path] ??= {})[operation.method.toLowerCase()] = {
      operationId: operation.id,
      tags: [operation.group],
      summary: operation.summary,
      description: describe(operation),
      security: operation.access.kind === "public" ? [] : [{ accessToken: [] }, { serviceKey: [] }],
      parameters: [
        ...pathItemParameters(operation),
        ...queryParameters(operation),
        ...headerParameters(operation),
      ],
      ...(body === null
        ? {}
        : {
            requestBody: {
              required: !mayLackBody(operation),
              content: {
                "application/json": {
                  schema: { $ref: `#/components/schemas/${recordName(body)}` },
                },
              },
            },
          }),
      responses: responses(operation),
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Till",
      version,
      description:
        "Invoices paid in crypto tokens, straight into the merchant's own wallets. Amounts are decimal text, times ISO 8601 with milliseconds and Z, errors RFC 9457 problem documents.",
    },
    tags: groups.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        serviceKey: { type: "apiKey", in: "header", name: "X-Service-Key" },
      },
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "Makes a repeated request have one effect: the first answer is kept for 24 hours.",
          schema: { type: "string", minLength: 1, maxLength: 255 },
        },
        IfMatch: {
          name: "If-Match",
          in: "header",
          required: false,
          description:
            "The ETag that was read: the change is refused with 412 when the object has another one.",
          schema: { type: "string" },
        },
        IfNoneMatch: {
          name: "If-None-Match",
          in: "header",
          required: false,
          description: "The ETag that is known: 304 without a body while it holds.",
          schema: { type: "string" },
        },
      },
      schemas: recordSchemas(),
    },
  };
}
