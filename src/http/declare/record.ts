import * as z from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import { idPattern, type Id, type IdKind } from "../../kernel/id.ts";
import { isSeen } from "../../kernel/text.ts";
import { parseUrl } from "../../kernel/url.ts";

/**
 * The officially assigned ISO 3166-1 alpha-2 codes, and XK, which banks and payment networks use for Kosovo. Reserved,
 * user-assigned and former codes (UK, XX, ZZ, SU) are left out.
 */
const codes = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
  MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`;

const countries: ReadonlySet<string> = new Set(codes.trim().split(/\s+/));

/**
 * The named records of the API. Each is declared once, by the feature that owns it. The OpenAPI components, the
 * reference page, request parsing and response validation derive from it.
 */
const named = z.registry<{ id: string }>();
const names = new Map<string, z.ZodType>();

/** Registers a record under its public name. Throws a Defect if the name is taken. */
export function record<S extends z.ZodType>(name: string, schema: S): S {
  if (names.has(name)) throw new Defect(`the record ${name} is declared twice`);
  names.set(name, schema);
  named.add(schema, { id: name });
  return schema;
}

/** Declares a request's record; unknown fields are refused. */
export function requestRecord<const S extends z.ZodRawShape>(name: string, shape: S) {
  return record(name, z.strictObject(shape));
}

/** Request records of `itemsRecord`. */
const withItems = new WeakSet<z.ZodType>();

/**
 * Declares a request's record whose fields are lists of items that the operation parses one by one, each with
 * `parseBody`: a malformed item does not refuse the request.
 */
export function itemsRecord<const S extends z.ZodRawShape>(name: string, shape: S) {
  const declared = requestRecord(name, shape);
  withItems.add(declared);
  return declared;
}

/** Whether a request's record is one of `itemsRecord`. */
export function hasItems(schema: z.ZodType): boolean {
  return withItems.has(schema);
}

/** Declares a response's record. All fields are present; missing values are null. */
export function responseRecord<const S extends z.ZodRawShape>(name: string, shape: S) {
  return record(name, z.object(shape));
}

/** The fields of `observes`, by record. */
const observed = new WeakMap<z.ZodType, readonly string[]>();

/**
 * Declares the fields of a response's record that only say what Till observes, such as failures of a receiver. They
 * change at any time, so `If-Match` leaves them out: such a change must not refuse a caller's.
 */
export function observes<S extends z.ZodRawShape>(
  declared: z.ZodObject<S>,
  ...fields: readonly (keyof S & string)[]
): void {
  observed.set(declared, fields);
}

/** Returns the fields of `observes`; none if the record declares none. */
export function observedFields(declared: z.ZodType): readonly string[] {
  return observed.get(declared) ?? [];
}

/** Declares a page of one kind of item: `{ data, nextCursor }`. */
export function listRecord<S extends z.ZodType>(name: string, item: S) {
  return record(name, z.object({ data: z.array(item), nextCursor: z.string().nullable() }));
}

export function recordName(schema: z.ZodType): string {
  const name = named.get(schema)?.id;
  if (name === undefined) throw new Defect("an operation names a record that is not registered");
  return name;
}

/** A value that the document describes as a record, and that its operation parses itself. */
export function asWritten(recordOfValue: string): z.ZodUnknown {
  return z.unknown().meta({ $ref: `#/components/schemas/${recordOfValue}` });
}

/** Removes parts of zod's JSON Schema that readers of the document do not need. */
const concise = {
  io: "input",
  override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
    // zod adds a pattern of several hundred characters to these formats, although the format is enough.
    if (jsonSchema.format === "date-time" || jsonSchema.format === "email")
      delete jsonSchema.pattern;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  },
} as const;

/** Describes an unnamed schema, such as a query parameter's, as JSON Schema (2020-12). */
export function describeSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, concise);
  return described;
}

/** Returns every record as JSON Schema (2020-12) by name, with references between them. */
export function recordSchemas(): Record<string, Record<string, unknown>> {
  const describe = fieldDescriber(names.values());
  const { schemas } = z.toJSONSchema(named, {
    uri: (id) => `#/components/schemas/${id}`,
    ...concise,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, schema]) => {
        const { $schema: _dialect, $id: _id, ...rest } = schema as Record<string, unknown>;
        const { properties } = rest as { properties?: Record<string, { description?: string }> };
        if (properties === undefined) return [name, rest];
        const fields = Object.entries(properties).map(([field, property]) => {
          const description = describe(names.get(name), field, property.description);
          return [field, { ...property, ...(description === undefined ? {} : { description }) }];
        });
        return [name, { ...rest, properties: Object.fromEntries(fields) as unknown }];
      }),
  );
}

// --- building blocks of records ----------------------------------------------------------------------------------

/** A time in a response: ISO 8601 with milliseconds and Z. */
export const datetime = () => z.iso.datetime({ precision: 3 });

/** The number of changes of an object, which its events have too. */
export const objectVersion = () =>
  z.int().min(1).meta({
    description:
      "Increased by each change of the object, as in its events: of two states, the one with the higher number is newer. Values that follow the chain, such as confirmations, change without it.",
  });

/**
 * A time in a request: ISO 8601 with an offset, in any precision. In UTC it must be in the years 1 to 9999, the range
 * that a response can express.
 */
export const instant = () =>
  z.iso
    .datetime({
      offset: true,
      error: "must be a time with an offset, such as 2026-01-31T00:00:00Z",
    })
    .refine(isInWrittenYears, { error: "must be in the years 1 to 9999, in UTC" });

const firstMoment = Date.parse("0001-01-01T00:00:00.000Z");
const lastMoment = Date.parse("9999-12-31T23:59:59.999Z");

function isInWrittenYears(text: string): boolean {
  const at = Date.parse(text);
  // Text that is not a time has its own error.
  return Number.isNaN(at) || (at >= firstMoment && at <= lastMoment);
}

/** An amount in a request: decimal text, never a JSON number. The function checks the asset's number of decimals. */
export const money = () =>
  z.string().regex(/^(0|[1-9]\d{0,17})(\.\d{1,18})?$/, {
    error: 'must be a decimal string such as "25.00"',
  });

/** A non-negative amount in a response. Sums may have more digits than a request may send. */
export const moneyText = () => z.string().regex(/^(0|[1-9]\d*)(\.\d+)?$/);

/** An amount in a response that may be negative, such as an invoice line that is a discount. */
export const signedMoneyText = () => z.string().regex(/^-?(0|[1-9]\d*)(\.\d+)?$/);

export const id = <K extends IdKind>(kind: K) =>
  z.string().regex(idPattern(kind), {
    error: `must be an id that starts with ${kindPrefix(kind)}`,
  }) as unknown as z.ZodType<Id<K>, string>;

function kindPrefix(kind: IdKind): string {
  return idPattern(kind).source.slice(1, 5);
}

/**
 * One line of text, trimmed: names, labels, titles. It must contain a visible character, and no direction control: with
 * those a name could reverse the text beside it, such as `moc.knab` to `bank.com`. Direction marks (U+200E, U+200F,
 * U+061C) cannot reverse text, and names in Arabic and Hebrew have them.
 */
export const line = (maxLength: number) =>
  paragraph(maxLength)
    .regex(
      // oxlint-disable-next-line no-control-regex -- the pattern refuses control characters
      /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/,
      { error: "must be one line without control characters" },
    )
    // Empty text has its own error.
    .refine((text) => text === "" || isSeen(text), { error: "must contain visible characters" })
    .refine((text) => !isSeen(text) || !/[\u202a-\u202e\u2066-\u2069]/.test(text), {
      error: "must not contain characters that control the direction of text",
    });

/** Text of several lines, trimmed. */
export const paragraph = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(maxLength, { error: `must have at most ${String(maxLength)} characters` });

/** The reason of an operator's decision, for the audit log. */
export const DecisionReason = z.object({ reason: line(500) });

/** An e-mail address of at most 254 characters (RFC 5321), converted to lower case. */
export const email = () =>
  z
    .email({ error: "must be an e-mail address" })
    .max(254, { error: "must have at most 254 characters" })
    .toLowerCase();

/** An http or https URL without credentials, such as the shop page to which a payer returns. */
export const webAddress = () =>
  z
    .string()
    .max(2_048, { error: "must have at most 2048 characters" })
    .refine(isWebAddress, { error: "must be an http or https URL without credentials" });

function isWebAddress(value: string): boolean {
  // WHATWG parsing accepts and repairs backslashes, tabs and line breaks; such links are refused here.
  const url = /^https?:\/\/[^\s\\]+$/i.test(value) ? parseUrl(value) : null;
  if (url === null) return false;
  return (
    url.username === "" &&
    url.password === "" &&
    !value.slice(0, value.indexOf("//") + 2 + url.host.length).includes("@")
  );
}

/** An ISO 3166-1 alpha-2 code of an existing country. */
export const country = () =>
  z
    .string()
    .regex(/^[A-Z]{2}$/, {
      error: "must be a country code of two capital letters, such as DE",
      abort: true,
    })
    .refine((code) => countries.has(code), {
      error: "must be a country code of ISO 3166-1, such as DE or GB",
    });

/** The merchant's own data, returned unchanged: at most 50 keys of 40 characters, values of 500. */
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

/** The descriptions of a record's fields, by field name. */
type FieldDescriptions<Shape> = { readonly [Name in keyof Shape]?: string };

/** A time in the document. Every description of a time adds when it is null. */
const time = "ISO 8601, UTC.";

/** Descriptions of the fields that mean the same in every record that does not describe them itself. */
const commonFields: Readonly<Record<string, string>> = {
  id: "Unique id. It never changes and is never used again.",
  createdAt: `Time of creation: ${time}`,
  updatedAt: `Time of the last change: ${time}`,
  data: "The items of the page.",
  nextCursor: "The `cursor` of the next page; null on the last page.",
  organizationId: "The organization's id.",
  organizationName: "The organization's name.",
  membershipId: "The id of the membership.",
  invitationId: "The id of the invitation.",
  apiKeyId: "The id of the API key.",
  userId: "The user's id.",
  customerId: "The customer's id.",
  walletId: "The id of the receiving wallet.",
  invoiceId: "The invoice's id.",
  paymentId: "The payment's id.",
  transferId: "The transfer's id.",
  refundId: "The refund's id.",
  paymentLinkId: "The id of the payment link.",
  webhookEndpointId: "The id of the webhook endpoint.",
  webhookDeliveryId: "The id of the webhook delivery.",
  eventId: "The event's id.",
  subscriptionId: "The subscription's id.",
  platformInvoiceId: "The id of the platform invoice.",
  checkoutId: "The unguessable id of the invoice's checkout, which is part of its URL.",
  publicId: "The invoice's `publicId`, which its payer sees.",
  queue: "The name of the background queue.",
  network: "The network's id, such as `tron`.",
  tokenSymbol: "The token's symbol, such as `USDT`.",
  currency: "The currency: an ISO 4217 code such as `USD`, or a token's symbol.",
  settlementCurrency:
    "The currency of the invoice's price: an ISO 4217 code such as `USD`, or a token's symbol.",
  transactionHash: "The transaction's hash, in the notation of the network's explorers.",
  metadata: "The merchant's own data: at most 50 keys of 40 characters, values of 500.",
};

/** Descriptions of the filters that several lists have, by query parameter. */
const commonFilters: Readonly<Record<string, string>> = {
  status: "Only items with this status.",
  externalId: "Only items with exactly this `externalId`.",
};

/** Describes a path parameter, or a query parameter without a description of its own, by its name. */
export function describeParameter(name: string): string | undefined {
  return commonFilters[name] ?? commonFields[name];
}

const described = new Map<z.core.$ZodType, Readonly<Record<string, string | undefined>>>();

/** Describes fields of a record, with their units; the texts are those of the OpenAPI document. Returns the record. */
export function describeFields<Shape extends z.ZodRawShape, Record extends z.ZodObject<Shape>>(
  record: Record & z.ZodObject<Shape>,
  descriptions: FieldDescriptions<Shape>,
): Record {
  described.set(record, descriptions);
  return record;
}

/** Returns the description of a field of a record, by the record itself, by the field's schema, or as a common field. */
export function describeField(record: z.ZodType | null, field: string): string | undefined {
  const shape: z.ZodRawShape | null = record instanceof z.ZodObject ? record.shape : null;
  if (record === null || shape === null) return undefined;
  const schema = shape[field] as z.ZodType | undefined;
  return described.get(record)?.[field] ?? schema?.meta()?.description ?? commonFields[field];
}

/**
 * Returns the function that describes a field of a record: by the record's own description, by that of the first
 * record that has the same field, by the field's schema, or as a common field. Undefined if none describes it.
 */
function fieldDescriber(
  records: Iterable<z.ZodType>,
): (
  record: z.ZodType | undefined,
  field: string,
  written: string | undefined,
) => string | undefined {
  const origins = new Map<z.core.$ZodType, Map<string, string | undefined>>();
  for (const record of records) {
    if (!(record instanceof z.ZodObject)) continue;
    const shape: z.ZodRawShape = record.shape;
    for (const [field, shared] of Object.entries(shape)) {
      const texts = origins.get(shared) ?? new Map<string, string | undefined>();
      if (!texts.has(field)) origins.set(shared, texts.set(field, described.get(record)?.[field]));
    }
  }
  return (record, field, written) => {
    if (record === undefined) return written;
    const shared = fieldOf(record, field);
    const taken = shared === undefined ? undefined : origins.get(shared)?.get(field);
    return described.get(record)?.[field] ?? taken ?? written ?? commonFields[field];
  };
}

function fieldOf(record: z.core.$ZodType, field: string): z.core.$ZodType | undefined {
  const shape: z.ZodRawShape | null = record instanceof z.ZodObject ? record.shape : null;
  return shape?.[field];
}

/** The type of a row's value that is shown as a record's field without computing it. Times are formatted. */
type Source<Field> = Field extends z.ZodISODateTime
  ? Instant
  : Field extends z.ZodNullable<z.ZodISODateTime>
    ? Instant | null
    : Readonly<z.input<Field>>;

type Copied<Shape, Row> = {
  [Name in keyof Shape]: Name extends keyof Row
    ? Row[Name] extends Source<Shape[Name]>
      ? Name
      : never
    : never;
}[keyof Shape];

/** The fields that cannot be copied from the row, and any others that differ from it. */
type Computed<Shape, Row> = {
  readonly [Name in Exclude<keyof Shape, Copied<Shape, Row>>]: z.input<Shape[Name]>;
} & { readonly [Name in keyof Shape]?: z.input<Shape[Name]> };

/**
 * Presents a row as a record: copies the record's fields from the row and formats its times. `computed` has the fields
 * whose values the row lacks or has in another form; it does not compile without them.
 */
export function presentRow<Shape extends z.ZodRawShape, Row extends object>(
  record: z.ZodObject<Shape>,
  row: Row,
  ...[computed]: [Exclude<keyof Shape, Copied<Shape, Row>>] extends [never]
    ? [computed?: Computed<Shape, Row>]
    : [computed: Computed<Shape, Row>]
): z.input<z.ZodObject<Shape>> {
  const from = row as Readonly<Record<string, unknown>>;
  const given = (computed ?? {}) as Readonly<Record<string, unknown>>;
  const shown: Record<string, unknown> = {};
  for (const [name, isTime] of fieldsOf(record)) {
    if (name in given) shown[name] = given[name];
    else {
      const value = from[name];
      shown[name] = isTime && typeof value === "number" ? toIso(value) : value;
    }
  }
  return shown as z.input<z.ZodObject<Shape>>;
}

const known = new WeakMap<z.ZodObject, readonly (readonly [name: string, isTime: boolean])[]>();

function fieldsOf(record: z.ZodObject) {
  const found = known.get(record);
  if (found !== undefined) return found;
  const fields = Object.entries(record.shape).map(
    ([name, field]) => [name, isDatetime(field)] as const,
  );
  known.set(record, fields);
  return fields;
}

function isDatetime(field: unknown): boolean {
  return field instanceof z.ZodNullable
    ? isDatetime(field.unwrap())
    : field instanceof z.ZodISODateTime;
}
