import type { Problem } from "./generated/records.ts";

/** The stable codes of problems. Later versions may add codes. */
export type ProblemCode = Problem["code"];

/** Every error of the client, except that of an aborted call, which is the reason of its signal. */
export class TillError extends Error {
  override readonly name: string = "TillError";
}

/** Till refused the call: an error response (RFC 9457). Decide by `code`; `message` is for the log. */
export class TillProblem extends TillError {
  override readonly name = "TillProblem";
  /** The HTTP status. */
  readonly status: number;
  readonly code: ProblemCode;
  readonly title: string;
  /** The fault in the request and what to do about it, for a person. */
  readonly detail: string;
  /** The id by which the operator finds the request in the log. */
  readonly requestId: string;
  /** The wrong values of the request. */
  readonly errors: Problem["errors"];
  /** How long Till asks to wait before another attempt, in seconds; null if it does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem, retryAfterSeconds: number | null) {
    super(`${problem.code}: ${problem.detail}`);
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.detail = problem.detail;
    this.requestId = problem.requestId;
    this.errors = problem.errors;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer came from Till: the network failed, the time was up, or a proxy answered in its place. */
export class TillConnectionError extends TillError {
  override readonly name = "TillConnectionError";
  /** The HTTP status of an answer that is not Till's; null without an answer. */
  readonly status: number | null;

  constructor(
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.status = options.status ?? null;
  }
}

/** Whether an error is a refusal by Till, with this code if one is given. */
export function isProblem(error: unknown, code?: ProblemCode): error is TillProblem {
  return error instanceof TillProblem && (code === undefined || error.code === code);
}
