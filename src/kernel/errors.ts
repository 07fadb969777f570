/**
 * The location of an invalid value in a request: a JSON Pointer into the body (RFC 6901; "" is the whole body), the
 * name of a query parameter, or the name of a header.
 */
export type FieldLocation =
  | { readonly pointer: string; readonly parameter?: never; readonly header?: never }
  | { readonly parameter: string; readonly pointer?: never; readonly header?: never }
  | { readonly header: string; readonly pointer?: never; readonly parameter?: never };

/** An invalid value: its location, a stable code, and a message that continues the location's name ("must be …"). */
export type FieldError = FieldLocation & { readonly code: string; readonly message: string };

interface ProblemDetails {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export interface ProblemDefinition {
  /** A stable identifier in snake_case, by which clients distinguish problems. */
  readonly code: string;
  /** The HTTP status of the response; the command line derives its exit code from it. */
  readonly status: number;
  readonly title: string;
  /** The caller's way out, for the reference of the API, which needs it for each problem that an operation names. */
  readonly remedy?: string;
}

/**
 * An error that is shown to the caller. `message` becomes the problem's `detail`: it says what to do next and contains
 * no secret. Any other thrown value is a defect; the caller gets an internal error without its text.
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

/** Declares a kind of problem. Services throw the returned class; operations list it among their errors. */
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
  remedy:
    "Correct each field that `errors` names, then send the request again. Repeating it unchanged fails again.",
});

export const NotFound = defineProblem({
  code: "not_found",
  status: 404,
  title: "Not found",
  remedy:
    "Check the path and the ids. An object of another organization is answered in the same way as one that does not exist.",
});

/** Creates the problem for a malformed request. It lists every invalid value of the body, query and headers. */
export function invalidFields(errors: readonly FieldError[]): Problem {
  const named = errors.map((error) => `${locationInWords(error)}: ${error.message}`).join("; ");
  return new InvalidRequest(`Correct these fields and send the request again. ${named}`, {
    errors,
  });
}

/** Creates the problem for one invalid value. A location given as text is a JSON Pointer into the body. */
export function invalidField(
  location: string | FieldLocation,
  code: string,
  message: string,
): Problem {
  return invalidFields([
    { ...(typeof location === "string" ? { pointer: location } : location), code, message },
  ]);
}

function locationInWords({ pointer, parameter, header }: FieldLocation): string {
  if (parameter !== undefined) return `the query parameter ${parameter}`;
  if (header !== undefined) return `the header ${header}`;
  return pointer === "" ? "the body" : pointer;
}

/** A violated invariant of the program. It is never the caller's fault, and its text is never shown to the caller. */
export class Defect extends Error {
  override readonly name = "Defect";
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Defect(message);
}

/** Creates the response for a path that nothing has, whatever the credential. */
export function noSuchPath(): Problem {
  return new NotFound(
    "Nothing has this path, with any credential. Compare it with the reference: this server shows it at /docs.",
  );
}

/** Creates the one response both for missing things and for those of another tenant. */
export function notFound(): Problem {
  return new NotFound(
    "There is nothing here that this credential can see. Check the ids in the path.",
  );
}
