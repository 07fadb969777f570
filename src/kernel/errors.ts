/**
 * The place of a wrong value in a request: a JSON Pointer into the body (RFC 6901; "" is the whole body), the name of
 * a query parameter, or the name of a header.
 */
export type FieldPlace =
  | { readonly pointer: string; readonly parameter?: never; readonly header?: never }
  | { readonly parameter: string; readonly pointer?: never; readonly header?: never }
  | { readonly header: string; readonly pointer?: never; readonly parameter?: never };

/** One wrong value: its place, a stable code, and a message that continues the place's name ("must be …"). */
export type FieldError = FieldPlace & { readonly code: string; readonly message: string };

export interface ProblemDetails {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export interface ProblemDefinition {
  /** Stable, snake_case: what clients switch on. */
  readonly code: string;
  /** The HTTP status that it answers with; the command line derives its exit code from it. */
  readonly status: number;
  readonly title: string;
}

/**
 * An error that a caller may see. `message` is the problem's `detail`: it says what to do next and holds no secret.
 * Anything thrown that is not a Problem is a defect and is answered as an internal error without its text.
 */
export abstract class Problem extends Error {
  declare readonly code: string;
  declare readonly status: number;
  declare readonly title: string;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | null;

  constructor(detail: string, details: ProblemDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.errors = details.errors ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

export interface ProblemClass {
  readonly definition: ProblemDefinition;
  new (detail: string, details?: ProblemDetails): Problem;
}

/** Declares a kind of problem: `class`es from here are thrown by services and listed by operations. */
export function defineProblem(definition: ProblemDefinition): ProblemClass {
  return class extends Problem {
    static readonly definition = definition;
    override readonly code = definition.code;
    override readonly status = definition.status;
    override readonly title = definition.title;
    override readonly name = definition.code;
  };
}

export const InvalidRequest = defineProblem({
  code: "invalid_request",
  status: 400,
  title: "The request is not valid",
});

export const NotFound = defineProblem({ code: "not_found", status: 404, title: "Not found" });

/** A malformed request, with every wrong value of its body, query and headers. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const named = errors.map((error) => `${placeInWords(error)}: ${error.message}`).join("; ");
  return new InvalidRequest(`Correct these fields and send the request again. ${named}`, {
    errors,
  });
}

/** A malformed request with one wrong value; a place given as text is a JSON Pointer into the body. */
export function invalidField(place: string | FieldPlace, code: string, message: string): Problem {
  return invalidFields([
    { ...(typeof place === "string" ? { pointer: place } : place), code, message },
  ]);
}

function placeInWords({ pointer, parameter, header }: FieldPlace): string {
  if (parameter !== undefined) return `the query parameter ${parameter}`;
  if (header !== undefined) return `the header ${header}`;
  return pointer === "" ? "the body" : pointer;
}

/** A broken invariant of our own: never the caller's fault, never shown to them. */
export class Defect extends Error {
  override readonly name = "Defect";
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Defect(message);
}

/** One body for what does not exist and for what belongs to another. */
export function notFound(): Problem {
  return new NotFound(
    "There is nothing here that this credential can see. Check the ids in the path.",
  );
}
