import { openApiDocument } from "../../src/http/document/openapi.ts";
import { problemsOfAnyRequest } from "../../src/http/declare/problems.ts";
import { allOperations } from "../../src/features/index.ts";

interface HeaderObject {
  readonly required?: boolean;
}

/** A response that the OpenAPI document describes. */
export interface DescribedResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, HeaderObject>>;
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly pattern: RegExp;
  readonly operationId: string;
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

type Node = Readonly<Record<string, unknown>>;
type Tree = Readonly<Record<string, Readonly<Record<string, Node>>>>;

/** Resolves `{ $ref: "#/components/…" }`. */
function resolve(document: Node, node: unknown): unknown {
  const { $ref } = node as { $ref?: string };
  if ($ref === undefined) return node;
  const names = $ref.slice(2).split("/");
  return names.reduce<unknown>((found, name) => (found as Node)[name], document);
}

function readDocument(): readonly Described[] {
  const document = openApiDocument(allOperations, "1");
  return Object.entries(document["paths"] as Tree).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      pattern: new RegExp(`^/v1${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
      operationId: String(operation["operationId"]),
      responses: Object.fromEntries(
        Object.entries(operation["responses"] as Node).map(([status, node]) => {
          const response = resolve(document, node) as DescribedResponse;
          const headers = Object.entries(response.headers).map(([name, header]) => [
            name.toLowerCase(),
            resolve(document, header),
          ]);
          return [status, { ...response, headers: Object.fromEntries(headers) as Node }];
        }),
      ) as Described["responses"],
    })),
  );
}

let described: readonly Described[] | undefined;

/** Returns the operation in the OpenAPI document for a request; undefined if it matches none. */
export function describedOperation(method: string, target: string): Described | undefined {
  described ??= readDocument();
  const [path = ""] = target.split("?", 1);
  const wanted = method === "HEAD" ? "GET" : method;
  const fitting = described.filter((each) => each.method === wanted && each.pattern.test(path));
  // A literal path segment takes precedence over a parameter.
  return fitting.sort((one, other) => parameterCount(one) - parameterCount(other))[0];
}

const parameterCount = ({ path }: Described) => path.split("{").length;

/** Headers of HTTP and of the connection, which OpenAPI leaves out. */
const unlisted = new Set([
  ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"],
]);

/** Statuses that may occur before an operation is found. */
const statusesOfAnyRequest = new Set(
  problemsOfAnyRequest.map(({ definition }) => definition.status),
);

/**
 * Throws if a response has a status or a header that the OpenAPI document does not declare for the operation, or lacks
 * a required header.
 */
export function expectDeclared(
  method: string,
  target: string,
  answer: { readonly status: number; readonly headers: Headers },
): void {
  const operation = describedOperation(method, target);
  if (operation === undefined) return;
  const { operationId, responses } = operation;
  const response = responses[String(answer.status)];
  if (response === undefined) {
    if (statusesOfAnyRequest.has(answer.status)) return;
    throw new Error(`${operationId} answered ${String(answer.status)}, which is not declared`);
  }
  const where = `${operationId} answered ${String(answer.status)}`;
  for (const name of answer.headers.keys()) {
    if (name in response.headers || unlisted.has(name)) continue;
    throw new Error(`${where} with the header ${name}, which is not declared there`);
  }
  for (const [name, { required }] of Object.entries(response.headers)) {
    if (required !== true || answer.headers.has(name)) continue;
    throw new Error(`${where} without the header ${name}, which is declared as required`);
  }
}
