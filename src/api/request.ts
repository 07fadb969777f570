import { z } from "zod";
import { invalidFields, type FieldError } from "../kernel/errors.ts";

/** How deep a body may be nested. */
const depthMax = 32;
const fieldErrorsMax = 100;

/** JSON pointer (RFC 6901) of a path into a body. */
function pointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/**
 * Refuses what no field may hold, before anything else looks at the body: nesting beyond 32 levels, text with NUL or
 * half a surrogate pair (databases store them differently), and names that reach into object prototypes.
 */
export function inspectBody(body: unknown): void {
  const errors: FieldError[] = [];
  const pending: { value: unknown; path: readonly PropertyKey[] }[] = [{ value: body, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    if (errors.length >= fieldErrorsMax) break;
    if (path.length > depthMax) {
      errors.push({
        pointer: pointer(path.slice(0, 3)),
        code: "too_deep",
        message: `must be nested at most ${String(depthMax)} levels deep`,
      });
      break;
    }
    if (typeof value === "string") {
      const fault = textFault(value);
      if (fault !== null) errors.push({ pointer: pointer(path), ...fault });
    } else if (typeof value === "object" && value !== null) {
      for (const [name, child] of Object.entries(value)) {
        if (name === "__proto__" || textFault(name) !== null) {
          errors.push({
            pointer: pointer(path),
            code: "invalid_name",
            message: "has a field name that is not allowed",
          });
        } else {
          pending.push({ value: child, path: [...path, name] });
        }
      }
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
}

function textFault(value: string): { code: string; message: string } | null {
  if (value.includes("\u0000")) {
    return { code: "invalid_text", message: "must not contain the character NUL" };
  }
  if (!value.isWellFormed()) {
    return { code: "invalid_text", message: "must be well-formed Unicode" };
  }
  return null;
}

/** A body by its record, or a problem that names every wrong field. */
export function parseBody(schema: z.ZodType, body: unknown): unknown {
  inspectBody(body);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidFields(fieldErrors(parsed.error.issues, (path) => pointer(path)));
}

/** Query parameters by their declaration: unknown ones are refused, repeated ones too. */
export function parseQuery(
  shape: Readonly<Record<string, z.ZodType>>,
  query: URLSearchParams,
): Record<string, unknown> {
  const given: Record<string, string> = {};
  const errors: FieldError[] = [];
  const allowed = Object.keys(shape);
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    const shown = name.slice(0, 40);
    if (!allowed.includes(name)) {
      const list =
        allowed.length === 0 ? "none are allowed here" : `allowed are ${allowed.join(", ")}`;
      errors.push({
        pointer: `?${shown}`,
        code: "unknown_parameter",
        message: `is not a parameter of this operation; ${list}`,
      });
    } else if (values.length > 1) {
      errors.push({
        pointer: `?${name}`,
        code: "repeated_parameter",
        message: "must be given once",
      });
    } else {
      const value = values[0] ?? "";
      const fault = textFault(value);
      if (fault === null) given[name] = value;
      else errors.push({ pointer: `?${name}`, ...fault });
    }
  }
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success && errors.length === 0) return parsed.data;
  throw invalidFields([
    ...errors,
    ...fieldErrors(parsed.error?.issues ?? [], (path) => `?${String(path[0] ?? "")}`),
  ]);
}

function fieldErrors(
  issues: readonly z.core.$ZodIssue[],
  point: (path: readonly PropertyKey[]) => string,
): FieldError[] {
  return issues
    .flatMap((issue): FieldError[] => {
      switch (issue.code) {
        case "unrecognized_keys":
          return issue.keys.map((key) => ({
            pointer: point([...issue.path, key.slice(0, 40)]),
            code: "unknown_field",
            message: "is not a field of this request",
          }));
        case "invalid_type":
          return issue.input === undefined && issue.message.includes("received undefined")
            ? [{ pointer: point(issue.path), code: "required", message: "is required" }]
            : [{ pointer: point(issue.path), code: "invalid_type", message: plain(issue.message) }];
        case "invalid_key":
        case "invalid_element":
          return fieldErrors(issue.issues, (path) => point([...issue.path, ...path]));
        case "invalid_union":
          return issue.errors[0] === undefined || issue.errors[0].length === 0
            ? [{ pointer: point(issue.path), code: "invalid_value", message: plain(issue.message) }]
            : fieldErrors(issue.errors[0], (path) => point([...issue.path, ...path]));
        default:
          return [{ pointer: point(issue.path), code: code(issue), message: plain(issue.message) }];
      }
    })
    .slice(0, fieldErrorsMax);
}

function code(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_small":
    case "too_big":
    case "invalid_value":
      return issue.code;
    default:
      return "invalid_format";
  }
}

/** zod's sentences begin with "Invalid input: ", which says nothing beside a pointer. */
function plain(message: string): string {
  return message.replace(/^Invalid input: /, "");
}
