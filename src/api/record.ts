import { z } from "zod";
import { countries } from "../kernel/countries.ts";
import { Defect } from "../kernel/errors.ts";
import { idPattern, type Id, type IdKind } from "../kernel/id.ts";
import { parseUrl } from "../kernel/url.ts";

/**
 * The named records of the wire. Each is declared once, by the feature that owns it; the OpenAPI document's components,
 * the reference page, the parsing of requests and the check of answers are derived from it.
 */
const named = z.registry<{ id: string }>();
const names = new Map<string, z.ZodType>();

/** Registers a record under its public name; a second one of that name is a defect. */
export function record<S extends z.ZodType>(name: string, schema: S): S {
  if (names.has(name)) throw new Defect(`the record ${name} is declared twice`);
  names.set(name, schema);
  named.add(schema, { id: name });
  return schema;
}

/** A request's record: fields that it does not name are refused. */
export function requestRecord<const S extends z.ZodRawShape>(name: string, shape: S) {
  return record(name, z.strictObject(shape));
}

/** An answer's record: every field is there, nullable where it may be missing. */
export function responseRecord<const S extends z.ZodRawShape>(name: string, shape: S) {
  return record(name, z.object(shape));
}

/** `{ data, nextCursor }` of one kind of item. */
export function listRecord<S extends z.ZodType>(name: string, item: S) {
  return record(name, z.object({ data: z.array(item), nextCursor: z.string().nullable() }));
}

export function recordName(schema: z.ZodType): string {
  const name = named.get(schema)?.id;
  if (name === undefined) throw new Defect("an operation names a record that is not registered");
  return name;
}

/** Removes what zod adds to a schema and no reader of the document needs. */
const concise = {
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    // zod writes a pattern of several hundred letters beside these formats; the format says it.
    if (jsonSchema.format === "date-time" || jsonSchema.format === "email")
      delete jsonSchema.pattern;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const;

/** A schema that has no name, such as a query parameter's, as JSON Schema (2020-12). */
export function describeSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, concise);
  return described;
}

/** Every record as JSON Schema (2020-12) with references between them, by name. */
export function recordSchemas(): Record<string, Record<string, unknown>> {
  const { schemas } = z.toJSONSchema(named, {
    uri: (id) => `#/components/schemas/${id}`,
    ...concise,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, schema]) => {
        const { $schema: _dialect, $id: _id, ...rest } = schema as Record<string, unknown>;
        return [name, rest];
      }),
  );
}

// --- the parts that records are made of --------------------------------------------------------------------------

/** A time on the wire: ISO 8601 with milliseconds and Z. */
export const datetime = () => z.iso.datetime({ precision: 3 });

/**
 * A time that is asked for: ISO 8601 with its zone, as exact as anybody likes. In UTC it is in the years 1 to 9999,
 * which an answer can say.
 */
export const instant = () =>
  z.iso
    .datetime({
      offset: true,
      error: "must be a time with its zone, such as 2026-01-31T00:00:00Z",
    })
    .refine(isInWrittenYears, { error: "must be in the years 1 to 9999 of UTC" });

const firstMoment = Date.parse("0001-01-01T00:00:00.000Z");
const lastMoment = Date.parse("9999-12-31T23:59:59.999Z");

function isInWrittenYears(text: string): boolean {
  const at = Date.parse(text);
  // What is no time at all has a word of its own.
  return Number.isNaN(at) || (at >= firstMoment && at <= lastMoment);
}

/** An amount on the wire: decimal text, never a JSON number. The service checks the asset's own decimals. */
export const money = () =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,17})(\.\d{1,18})?$/, { error: 'must be decimal text such as "25.00"' });

/** An amount in an answer, never below zero, which sums may have made longer than a request may ask for. */
export const moneyAnswer = () => z.string().regex(/^(0|[1-9]\d*)(\.\d+)?$/);

/** An amount in an answer that may be below zero, such as a line that lowers an invoice. */
export const signedMoneyAnswer = () => z.string().regex(/^-?(0|[1-9]\d*)(\.\d+)?$/);

export const id = <K extends IdKind>(kind: K) =>
  z.string().regex(idPattern(kind), {
    error: `must be an id that starts with ${kindPrefix(kind)}`,
  }) as unknown as z.ZodType<Id<K>, string>;

function kindPrefix(kind: IdKind): string {
  return idPattern(kind).source.slice(1, 5);
}

/** Text of one line, trimmed at both ends: names, labels, titles. Something of it is to be seen. */
export const line = (maxLength: number) =>
  paragraph(maxLength)
    .regex(
      // eslint-disable-next-line no-control-regex -- control characters are what it refuses
      /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/,
      { error: "must be one line without control characters" },
    )
    .refine(isSeen, { error: "must have letters that can be seen" });

/** Not so blanks, marks of width or direction, and letters that are drawn as nothing. */
function isSeen(text: string): boolean {
  // An empty text has a word of its own.
  return (
    text === "" || /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u.test(text)
  );
}

/** Text of several lines, trimmed at both ends. */
export const paragraph = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(maxLength, { error: `must have at most ${String(maxLength)} characters` });

/** An e-mail address, at most 254 characters (RFC 5321), compared in lower case. */
export const email = () =>
  z
    .email({ error: "must be an e-mail address" })
    .max(254, { error: "must have at most 254 characters" })
    .toLowerCase();

/** An http or https address without credentials, such as a shop's page that a payer returns to. */
export const webAddress = () =>
  z
    .string()
    .max(2_048, { error: "must have at most 2048 characters" })
    .refine(isWebAddress, { error: "must be an http or https address without credentials" });

function isWebAddress(value: string): boolean {
  // WHATWG parsing forgives back-slashes, tabs and line breaks; a link that needs forgiving is refused.
  const url = /^https?:\/\/[^\s\\]+$/i.test(value) ? parseUrl(value) : null;
  if (url === null) return false;
  return (
    url.username === "" &&
    url.password === "" &&
    !value.slice(0, value.indexOf("//") + 2 + url.host.length).includes("@")
  );
}

/** ISO 3166-1 alpha-2, a country that there is. */
export const country = () =>
  z
    .string()
    .regex(/^[A-Z]{2}$/, {
      error: "must be a country code of two capital letters, such as DE",
      abort: true,
    })
    .refine((code) => countries.has(code), {
      error: "must be the code of a country in ISO 3166-1, such as DE or GB",
    });

/** The merchant's own notes: at most 50 keys of 40 characters, values of 500; returned untouched. */
export const metadata = () =>
  z
    .record(
      z
        .string()
        .min(1, { error: "keys must not be empty" })
        .max(40, { error: "keys must have at most 40 characters" }),
      z.string().max(500, { error: "must have at most 500 characters" }),
    )
    .refine((value) => Object.keys(value).length <= 50, { error: "must have at most 50 keys" });
