import { z } from "zod";
import { defineProblem, InvalidRequest, NotFound, Problem } from "../kernel/errors.ts";
import { responseRecord } from "./record.ts";

export const Unauthenticated = defineProblem({
  code: "unauthenticated",
  status: 401,
  title: "A good credential is needed",
});
export const Forbidden = defineProblem({ code: "forbidden", status: 403, title: "Not allowed" });
export const OrganizationSuspended = defineProblem({
  code: "organization_suspended",
  status: 403,
  title: "The organization is suspended",
});
export const MethodNotAllowed = defineProblem({
  code: "method_not_allowed",
  status: 405,
  title: "The path has no such method",
});
export const PreconditionFailed = defineProblem({
  code: "precondition_failed",
  status: 412,
  title: "The object has changed",
});
export const PayloadTooLarge = defineProblem({
  code: "payload_too_large",
  status: 413,
  title: "The body is too large",
});
export const UnsupportedMediaType = defineProblem({
  code: "unsupported_media_type",
  status: 415,
  title: "The content type is not supported",
});
export const IdempotencyKeyReused = defineProblem({
  code: "idempotency_key_reused",
  status: 422,
  title: "The Idempotency-Key was used for another request",
});
export const IdempotencyKeyInFlight = defineProblem({
  code: "idempotency_key_in_flight",
  status: 409,
  title: "A request with this Idempotency-Key is still running",
});
export const RateLimited = defineProblem({
  code: "rate_limited",
  status: 429,
  title: "Too many requests",
});
export const HeadersTooLarge = defineProblem({
  code: "headers_too_large",
  status: 431,
  title: "The headers are too large",
});
export const RequestTimeout = defineProblem({
  code: "request_timeout",
  status: 408,
  title: "The request took too long",
});
export const InternalError = defineProblem({
  code: "internal_error",
  status: 500,
  title: "Something went wrong on our side",
});

/** What any request may be answered, whether its path is an operation's or none. */
export const problemsOfAnyRequest = [
  InvalidRequest,
  NotFound,
  MethodNotAllowed,
  RequestTimeout,
  PayloadTooLarge,
  HeadersTooLarge,
] as const;

export const ProblemRecord = responseRecord("Problem", {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  requestId: z.string(),
  errors: z.array(z.object({ pointer: z.string(), code: z.string(), message: z.string() })),
});

/** The body of an error answer (RFC 9457). What is not a Problem tells the caller nothing but the request's id. */
export function problemDocument(
  error: unknown,
  requestId: string,
  baseUrl: string,
): z.infer<typeof ProblemRecord> {
  const problem =
    error instanceof Problem
      ? error
      : new InternalError(
          `Try again; if it stays, give the operator this request id: ${requestId}. The log line with it says more.`,
        );
  return {
    type: `${baseUrl}/docs/problems#${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    requestId,
    errors: [...problem.errors],
  };
}
