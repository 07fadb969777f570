import { type ProblemClass, InvalidRequest, NotFound } from "../../kernel/errors.ts";
import { StoreUnavailable } from "../../platform/database/errors.ts";
import { encodings } from "../pipeline/exchange.ts";
import type { Operation } from "./operation.ts";
import {
  AllowanceUsed,
  Forbidden,
  IdempotencyKeyInFlight,
  IdempotencyKeyReused,
  InternalError,
  OrganizationSuspended,
  PayloadTooLarge,
  PreconditionFailed,
  RateLimited,
  Unauthenticated,
  UnsupportedMediaType,
} from "./problems.ts";
import { rateLimits } from "../pipeline/rate-limits.ts";

/** Returns every problem that an operation may answer with: its own and those of its kind. */
export function problemsOf(operation: Operation): readonly ProblemClass[] {
  const isWrite = operation.method !== "GET";
  const all: ProblemClass[] = [InvalidRequest, RateLimited, InternalError, StoreUnavailable];
  all.push(...operation.errors);
  if (operation.access.kind !== "public") all.push(Unauthenticated, Forbidden);
  if (
    (operation.access.kind === "organization" || operation.access.kind === "authenticated") &&
    isWrite
  )
    all.push(AllowanceUsed, OrganizationSuspended);
  if (operation.path.includes("{")) all.push(NotFound);
  if (operation.body !== null || operation.method === "POST")
    all.push(PayloadTooLarge, UnsupportedMediaType);
  if (operation.conditional) all.push(PreconditionFailed);
  if (operation.idempotent) all.push(IdempotencyKeyReused, IdempotencyKeyInFlight);
  return [...new Set(all)].sort(
    (left, right) =>
      left.definition.status - right.definition.status ||
      (left.definition.code < right.definition.code ? -1 : 1),
  );
}

const text = { type: "string" } as const;

/** All response headers of operations as OpenAPI header objects. A test refuses any other header on real responses. */
export const responseHeaders = {
  "X-Request-Id": {
    description:
      "The request's id: the client's own if it sent a well-formed `X-Request-Id`. It also appears in the log and the audit entry.",
    required: true,
    schema: text,
  },
  "Cache-Control": {
    description: "`no-store`: the response must not be cached.",
    required: true,
    schema: text,
  },
  "Content-Security-Policy": {
    description: "For browsers: the response is data and must not load anything.",
    required: true,
    schema: text,
  },
  "Referrer-Policy": {
    description: "For browsers: do not send the address to other sites.",
    required: true,
    schema: text,
  },
  "X-Content-Type-Options": {
    description: "For browsers: do not guess the content type.",
    required: true,
    schema: text,
  },
  "RateLimit-Policy": {
    description:
      'The rate limit that counted the request, with its quota and its window in seconds: `"credential";q=600;w=60`. Absent if the operator has switched rate limits off.',
    schema: text,
  },
  RateLimit: {
    description:
      'The remaining requests and the seconds until the window ends: `"credential";r=599;t=60`.',
    schema: text,
  },
  "Retry-After": {
    description: "Seconds to wait before sending the request again.",
    schema: { type: "integer", minimum: 0 },
  },
  ETag: {
    description:
      "The tag of this representation, for `If-None-Match` and `If-Match`. Each content encoding has its own tag.",
    required: true,
    schema: text,
  },
  "Idempotent-Replayed": {
    description:
      "`true` if this is the stored response to an earlier request, which was not executed again.",
    schema: { type: "string", enum: ["true"] },
  },
  "WWW-Authenticate": {
    description: "`Bearer`: send an access token, or an API key in `X-Service-Key`.",
    required: true,
    schema: text,
  },
  "Content-Encoding": {
    description: "The compression of a body of 1 KiB or more, if the client accepts one.",
    schema: { type: "string", enum: encodings },
  },
  "Content-Disposition": {
    description: "The name under which browsers save the file.",
    required: true,
    schema: text,
  },
  Vary: {
    description: "`Accept-Encoding` on a body that can be compressed.",
    schema: text,
  },
} as const;

export type ResponseHeader = keyof typeof responseHeaders;

/** A response that an operation may give: success, 304, or the problems of one status. */
export interface DeclaredResponse {
  readonly status: number;
  /** Empty on a success and on 304. */
  readonly problems: readonly ProblemClass[];
  /** The headers that the response can have. */
  readonly headers: readonly ResponseHeader[];
}

const always: readonly ResponseHeader[] = [
  "X-Request-Id",
  "Cache-Control",
  "Content-Security-Policy",
  "Referrer-Policy",
  "X-Content-Type-Options",
];
const ofLimits: readonly ResponseHeader[] = ["RateLimit-Policy", "RateLimit"];
const ofCompression: readonly ResponseHeader[] = ["Content-Encoding", "Vary"];

/** Returns every status that an operation may answer with, and its possible headers, success first. */
export function responsesOf(operation: Operation): readonly DeclaredResponse[] {
  const { status, record, method } = operation;
  const success: ResponseHeader[] = [...always, ...ofLimits];
  const isCompressed = record !== null && !operation.secretResponse;
  if (isCompressed) success.push(...ofCompression);
  if (hasEntityTag(operation)) success.push("ETag");
  if (operation.idempotent) success.push("Idempotent-Replayed");
  if (operation.csv !== null) success.push("Content-Disposition");
  const responses: DeclaredResponse[] = [{ status, problems: [], headers: success }];
  if (method === "GET" && operation.csv === null) {
    const headers: ResponseHeader[] = [...always, ...ofLimits, "ETag", "Vary"];
    responses.push({ status: 304, problems: [], headers });
  }
  const problems = problemsOf(operation);
  for (const failure of new Set(problems.map(({ definition }) => definition.status))) {
    const ofStatus = problems.filter(({ definition }) => definition.status === failure);
    responses.push({
      status: failure,
      problems: ofStatus,
      headers: headersOfProblems(operation, failure, ofStatus),
    });
  }
  return responses;
}

function headersOfProblems(
  operation: Operation,
  status: number,
  problems: readonly ProblemClass[],
): ResponseHeader[] {
  const headers = [...always, ...ofCompression];
  // A credential's rate limit applies once the credential is known.
  const isCounted = status !== 401 || rateLimits[operation.limit].by === "client";
  if (isCounted) headers.push(...ofLimits);
  if (status === 401) headers.push("WWW-Authenticate");
  if (status === 429 || status === 503 || problems.includes(IdempotencyKeyInFlight))
    headers.push("Retry-After");
  return headers;
}

/** Whether a success has an ETag: reads do, and so do writes that return the changed object (not POST). */
export function hasEntityTag({ method, record }: Operation): boolean {
  return method !== "POST" && record !== null;
}
