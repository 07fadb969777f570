import { isUtf8 } from "node:buffer";
import * as z from "zod";
import { invalidFields, type FieldError, type FieldLocation } from "../../kernel/errors.ts";
import { hasItems } from "./record.ts";

/** Names of JSON types as error messages use them. */
const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Units of length limits. */
const counted: Readonly<Record<string, string>> = { string: " characters", array: " items" };

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** Error messages for faults without a message in the record's schema. Undefined keeps zod's own message. */
const fieldWords: z.core.$ZodErrorMap = (issue: RawIssue) => {
  switch (issue.code) {
    case "invalid_type": {
      const kind = kinds[issue.expected];
      return kind === undefined ? undefined : `must be ${kind}`;
    }
    case "too_small": {
      const what = counted[issue.origin] ?? "";
      if (what !== "" && issue.minimum === 1) return "must not be empty";
      return what === ""
        ? `must be ${issue.inclusive === false ? "more than" : "at least"} ${String(issue.minimum)}`
        : `must have at least ${String(issue.minimum)}${what}`;
    }
    case "too_big": {
      const what = counted[issue.origin] ?? "";
      return what === ""
        ? `must be ${issue.inclusive === false ? "less than" : "at most"} ${String(issue.maximum)}`
        : `must have at most ${String(issue.maximum)}${what}`;
    }
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    case "invalid_format":
      return issue.format === "datetime"
        ? 'must be a time in UTC such as "2026-01-31T12:00:00.000Z"'
        : undefined;
    default:
      return undefined;
  }
};

/** Maximum nesting of a body, in levels. */
const depthMax = 32;
const fieldErrorsMax = 100;
/** Maximum length of all messages of an answer's field errors together, in characters. */
const fieldMessagesMax = 8_192;
/** The level of the items in a body of `itemsRecord`: `/invoices/0`. */
const itemDepth = 2;

/** Maximum length of a caller's field name in an error, in characters. */
const shownNameMax = 60;

/** Returns the JSON Pointer (RFC 6901) of a path into a body. */
function inBody(path: readonly PropertyKey[]): FieldLocation {
  const pointer = path
    .map((part) => `/${shownName(String(part)).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
  return { pointer };
}

/** Returns the query parameter that a path into a parsed query belongs to. */
function inQuery(path: readonly PropertyKey[]): FieldLocation {
  return { parameter: shownName(String(path[0] ?? "")) };
}

/** Returns a comparable key for a location in one body or one query. */
function nameOf({ pointer, parameter }: FieldLocation): string {
  return pointer ?? parameter ?? "";
}

function shownName(name: string): string {
  return name.length > shownNameMax ? `${name.slice(0, shownNameMax)}…` : name;
}

/**
 * Finds content that no field may have, before the schema reads the body: nesting beyond 32 levels, text with NUL or
 * unpaired surrogates (databases store them differently), and names that reach into object prototypes. If `isParseable`
 * is false, the body must not be processed any further. From the level `textDepth` on, only the nesting is checked.
 */
function inspectBody(
  body: unknown,
  textDepth: number,
): { errors: FieldError[]; isParseable: boolean } {
  const errors: FieldError[] = [];
  const pending: { value: unknown; path: readonly PropertyKey[] }[] = [{ value: body, path: [] }];
  let isParseable = true;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, path } = next;
    const isChecked = path.length < textDepth;
    if (errors.length >= fieldErrorsMax) break;
    if (typeof value === "string") {
      if (!isChecked) continue;
      const fault = textFault(value);
      if (fault !== null) errors.push({ ...inBody(path), ...fault });
    } else if (typeof value === "object" && value !== null) {
      if (path.length >= depthMax) return { errors: [tooDeep(path)], isParseable: false };
      for (const [name, child] of Object.entries(value)) {
        if (isChecked && (name === "__proto__" || textFault(name) !== null)) {
          isParseable = false;
          errors.push({
            ...inBody([...path, name]),
            code: "invalid_name",
            message: "is not allowed as a field name",
          });
        } else {
          pending.push({ value: child, path: [...path, name] });
        }
      }
    }
  }
  return { errors, isParseable };
}

function tooDeep(path: readonly PropertyKey[]): FieldError {
  return {
    ...inBody(path.slice(0, 3)),
    code: "too_deep",
    message: `must be nested at most ${String(depthMax)} levels deep`,
  };
}

function textFault(value: string): { code: string; message: string } | null {
  if (value.includes("\u0000")) {
    return { code: "invalid_text", message: "must not contain NUL characters" };
  }
  return value.isWellFormed() ? null : malformedText;
}

const malformedText = { code: "invalid_text", message: "must be well-formed Unicode" };

/** Returns the first field errors, as many as an answer has room for, and at least one. */
function firstOf(errors: readonly FieldError[]): FieldError[] {
  let length = 0;
  return errors.filter(({ message }, index) => {
    length += message.length;
    return index === 0 || (index < fieldErrorsMax && length <= fieldMessagesMax);
  });
}

/** Parses a body by its record. Throws a problem that names every wrong field. */
export function parseBody(schema: z.ZodType, body: unknown): unknown {
  const { errors, isParseable } = inspectBody(body, hasItems(schema) ? itemDepth : Infinity);
  if (!isParseable) throw invalidFields(errors);
  const parsed = schema.safeParse(body, { error: fieldWords });
  if (parsed.success && errors.length === 0) return parsed.data;
  const named = new Set(errors.map(nameOf));
  const others = fieldErrors(parsed.error?.issues ?? [], body, inBody).filter(
    (error) => !named.has(nameOf(error)),
  );
  throw invalidFields(firstOf([...errors, ...others]));
}

/**
 * Returns the names of query parameters whose bytes are not valid UTF-8, encoded surrogates included. URLSearchParams
 * would decode them to U+FFFD, which the client did not send.
 */
function malformedNames(querystring: string): ReadonlySet<string> {
  const malformed = new Set<string>();
  // Fast path for every request: nearly all queries are plain ASCII without escapes.
  if (!/[^\x20-\x24\x26-\x7e]/.test(querystring)) return malformed;
  for (const pair of querystring.split("&")) {
    const bytes = pair.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (isUtf8(Buffer.from(bytes, "latin1"))) continue;
    for (const name of new URLSearchParams(pair).keys()) malformed.add(name);
  }
  return malformed;
}

/** Returns the parser of a query by its declaration. Unknown and repeated parameters are refused. */
export function queryParser(
  shape: Readonly<Record<string, z.ZodType>>,
): (querystring: string) => Record<string, unknown> {
  const schema = z.object(shape);
  const allowed = Object.keys(shape);
  if (allowed.length > 0) return (querystring) => parseQuery(schema, allowed, querystring);
  // Most operations have no parameters, and most requests send none.
  return (querystring) => (querystring === "" ? {} : parseQuery(schema, allowed, querystring));
}

function parseQuery(
  schema: z.ZodObject,
  allowed: readonly string[],
  querystring: string,
): Record<string, unknown> {
  const query = new URLSearchParams(querystring);
  const malformed = malformedNames(querystring);
  const given: Record<string, string> = {};
  const errors: FieldError[] = [];
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (!allowed.includes(name)) {
      const list = allowed.length === 0 ? "it has none" : `allowed: ${allowed.join(", ")}`;
      errors.push({
        ...inQuery([name]),
        code: "unknown_parameter",
        message: `is not a parameter of this operation; ${list}`,
      });
    } else if (values.length > 1) {
      errors.push({
        ...inQuery([name]),
        code: "repeated_parameter",
        message: "must be given once",
      });
    } else {
      const value = values[0] ?? "";
      const fault = malformed.has(name) ? malformedText : textFault(value);
      if (fault === null) given[name] = value;
      else errors.push({ ...inQuery([name]), ...fault });
    }
  }
  const parsed = schema.safeParse(given, { error: fieldWords });
  if (parsed.success && errors.length === 0) return parsed.data;
  throw invalidFields(
    firstOf([...errors, ...fieldErrors(parsed.error?.issues ?? [], given, inQuery)]),
  );
}

/**
 * Converts zod's issues. `input` is the value that zod parsed; it distinguishes a missing field from one of the wrong
 * type.
 */
function fieldErrors(
  issues: readonly z.core.$ZodIssue[],
  input: unknown,
  locate: (path: readonly PropertyKey[]) => FieldLocation,
): FieldError[] {
  const errors = issues
    .flatMap((issue): FieldError[] => {
      const below = (nested: readonly z.core.$ZodIssue[]) =>
        fieldErrors(nested, valueAt(input, issue.path), (path) => locate([...issue.path, ...path]));
      switch (issue.code) {
        case "unrecognized_keys":
          return issue.keys.map((key) => ({
            ...locate([...issue.path, key]),
            code: "unknown_field",
            message: "is not a field of this request",
          }));
        case "invalid_key":
        case "invalid_element":
          return below(issue.issues);
        case "invalid_union":
          if (issue.errors[0] !== undefined && issue.errors[0].length > 0) {
            return below(issue.errors[0]);
          }
          break;
        default:
      }
      const isMissing =
        issue.code !== "custom" &&
        issue.path.length > 0 &&
        valueAt(input, issue.path) === undefined;
      return isMissing
        ? [{ ...locate(issue.path), code: "required", message: "is required" }]
        : [{ ...locate(issue.path), code: code(issue), message: plain(issue.message) }];
    })
    .slice(0, fieldErrorsMax);
  // zod also checks the length of values that are not text; then only the wrong type is reported.
  const mistyped = new Set(errors.filter((error) => error.code === "invalid_type").map(nameOf));
  return errors.filter((error) => error.code === "invalid_type" || !mistyped.has(nameOf(error)));
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, part)
        ? (value as Record<PropertyKey, unknown>)[part]
        : undefined,
    input,
  );
}

function code(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
    case "too_small":
    case "too_big":
    case "invalid_value":
      return issue.code;
    case "custom":
      return typeof issue.params?.["code"] === "string" ? issue.params["code"] : "invalid_format";
    default:
      return "invalid_format";
  }
}

/** Removes zod's prefix "Invalid input: ", which adds nothing to a pointer. */
function plain(message: string): string {
  return message.replace(/^Invalid input: /, "");
}
