import * as z from "zod";
import { defineProblem, InvalidRequest, NotFound, Problem } from "../../kernel/errors.ts";
import { parseUrl } from "../../kernel/url.ts";
import { describeFields, responseRecord } from "./record.ts";

export const Unauthenticated = defineProblem({
  code: "unauthenticated",
  status: 401,
  title: "A valid credential is required",
  remedy:
    "Send a valid API key in `X-Service-Key`, or an access token in `Authorization`. Refresh an expired access token.",
});
export const Forbidden = defineProblem({
  code: "forbidden",
  status: 403,
  title: "Not allowed",
  remedy:
    "Use a credential with the role or the scope that `detail` names. Repeating the request changes nothing.",
});
export const OrganizationSuspended = defineProblem({
  code: "organization_suspended",
  status: 403,
  title: "The organization is suspended",
  remedy:
    "Contact the operator. Reading still works, and invoices that are open can still be paid.",
});
export const AllowanceUsed = defineProblem({
  code: "allowance_used",
  status: 403,
  title: "The organization has used what it may store before its approval",
  remedy:
    "Complete the profile and submit it with `submitOrganizationKyb`, then wait for `organization.approved`: there is no such limit afterwards.",
});
/** The detail of `organization_suspended`. */
export const suspendedAdvice =
  "The platform has suspended this organization: you can read it but not change it. Contact the operator.";
export const MethodNotAllowed = defineProblem({
  code: "method_not_allowed",
  status: 405,
  title: "The path does not support this method",
  remedy: "Use one of the methods in the `Allow` header.",
});
export const PreconditionFailed = defineProblem({
  code: "precondition_failed",
  status: 412,
  title: "The object has changed",
  remedy:
    "Read the object again, apply the change to its new state, and send the new `ETag` in `If-Match`.",
});
export const PayloadTooLarge = defineProblem({
  code: "payload_too_large",
  status: 413,
  title: "The body is too large",
  remedy: "Send a smaller body: `detail` names the limit. Divide batches.",
});
export const UnsupportedMediaType = defineProblem({
  code: "unsupported_media_type",
  status: 415,
  title: "The content type is not supported",
  remedy: "Send JSON with `Content-Type: application/json`.",
});
export const IdempotencyKeyReused = defineProblem({
  code: "idempotency_key_reused",
  status: 422,
  title: "The Idempotency-Key was used for another request",
  remedy:
    "Use a new key for a new request: `detail` says whether the path or the body differs from the first one. An order whose price has changed also needs another `externalId`.",
});
export const IdempotencyKeyInFlight = defineProblem({
  code: "idempotency_key_in_flight",
  status: 409,
  title: "A request with this Idempotency-Key is still running",
  remedy:
    "Wait as long as `Retry-After` says, then send the same request with the same key: it gets the first response.",
});
export const RateLimited = defineProblem({
  code: "rate_limited",
  status: 429,
  title: "Too many requests",
  remedy:
    "Wait as long as `Retry-After` says, then send the same request again. The request was not executed.",
});
export const HeadersTooLarge = defineProblem({
  code: "headers_too_large",
  status: 431,
  title: "The headers are too large",
  remedy:
    "Send fewer or shorter headers; cookies of other applications on the same host are a common cause.",
});
export const RequestTimeout = defineProblem({
  code: "request_timeout",
  status: 408,
  title: "The request took too long",
  remedy: "Send the whole request without pauses.",
});
export const InternalError = defineProblem({
  code: "internal_error",
  status: 500,
  title: "Something went wrong on our side",
  remedy:
    "Repeat the request with the same `Idempotency-Key`. If the error stays, give the operator the `requestId`.",
});

export const CrossSiteForm = defineProblem({
  code: "cross_site_form",
  status: 403,
  title: "The form was sent by another site",
  remedy: "Link to the page instead, and let the payer send its form.",
});

/** Problems that any request may get, even one that matches no operation. */
export const problemsOfAnyRequest = [
  InvalidRequest,
  NotFound,
  MethodNotAllowed,
  RequestTimeout,
  PayloadTooLarge,
  HeadersTooLarge,
] as const;

export const ProblemRecord = responseRecord("Problem", {
  type: z.string().meta({
    description:
      "A relative reference, without a host, to the page that explains the problem. Compare `code` instead.",
  }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  requestId: z.string(),
  errors: z
    .array(
      z.object({
        pointer: z.string().optional().meta({
          description:
            'JSON Pointer (RFC 6901) to the wrong value in the body; "" is the whole body.',
        }),
        parameter: z
          .string()
          .optional()
          .meta({ description: "Name of the wrong query parameter." }),
        header: z.string().optional().meta({ description: "Name of the wrong header." }),
        code: z.string().meta({ description: "Stable; base client decisions on it." }),
        message: z.string().meta({ description: "The fault, for a person; follows the name." }),
      }),
    )
    .meta({
      description:
        "Every wrong value in the request. Each entry has exactly one of `pointer`, `parameter` and `header`.",
    }),
});
describeFields(ProblemRecord, {
  title: "The kind of problem, in words that are the same for every problem with this `code`.",
  status: "The HTTP status.",
  detail: "The fault in this request and what to do about it, for a person.",
  code: "Stable; base client decisions on it. Later versions may add codes.",
  requestId: "The id of the request, by which the operator finds it in the log.",
});

/**
 * Returns the body of an error response (RFC 9457). For an error that is not a Problem, it reveals only the request id.
 */
export function problemDocument(
  error: unknown,
  requestId: string,
  baseUrl: string,
): z.infer<typeof ProblemRecord> {
  const problem =
    error instanceof Problem
      ? error
      : new InternalError(
          `Try again. If the error persists, give the operator this request id: ${requestId}. The log entry with this id has the details.`,
        );
  return {
    type: problemType(problem.code, baseUrl),
    title: problem.title,
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    requestId,
    errors: [...problem.errors],
  };
}

/**
 * Returns the `type` of a problem: a URI reference (RFC 9457, section 3.1.1) that a client resolves against the URL of
 * its request. It has no host, so a kind of problem has the same type at every address of an instance. It includes the
 * full path with the base URL's prefix, as the RFC recommends for relative references, so that it also resolves behind
 * a proxy's path prefix.
 */
function problemType(code: string, baseUrl: string): string {
  const prefix = parseUrl(baseUrl)?.pathname.replace(/\/+$/, "") ?? "";
  return `${prefix}/docs/problems#${code}`;
}
