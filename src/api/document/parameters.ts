import { idPattern } from "../../kernel/id.ts";
import { describeParameter } from "../declare/field-descriptions.ts";
import { pathParameters, type Operation } from "../declare/operation.ts";
import { describeSchema } from "../declare/record.ts";
import { exampleOf, type OperationExample } from "./examples.ts";

type Json = Record<string, unknown>;

/** Returns the parameters of an operation: those of its path and its query, and references to its headers. */
export function parametersOf(operation: Operation, example: OperationExample): Json[] {
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
export const headerParameters = {
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
