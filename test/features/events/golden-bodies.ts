import type { Json } from "../../support/app.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
}
export type Schemas = Readonly<Record<string, Schema>>;

const aTime = "2031-01-31T00:00:00.000Z";
/** Values that differ between runs, and their placeholders. */
const changing: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, () => aTime],
  [/^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/, (found) => `${found.slice(0, 4)}${"0".repeat(26)}`],
  [/^0x[0-9a-fA-F]{64}$/, () => `0x${"0".repeat(64)}`],
  [/^[0-9a-f]{64}$/, () => "0".repeat(64)],
  [/^0x[0-9a-fA-F]{40}$/, () => `0x${"0".repeat(40)}`],
  [/^http:\/\/127\.0\.0\.1:\d+\/pay\/.*$/, () => "https://till.example/pay/chk_0"],
  [
    /^http:\/\/127\.0\.0\.1:\d+\/link\/[^/]*(\/poster)?$/,
    (found) => `https://till.example/link/lnk_0${found.endsWith("/poster") ? "/poster" : ""}`,
  ],
  [/^chk_.*$/, () => "chk_0"],
];
const changingFields: Readonly<Record<string, unknown>> = {
  publicId: "INV-0",
  merchantInvoicePublicId: "INV-0",
  blockNumber: 1,
};

/** A body with what differs from run to run replaced. */
export function normalize(value: unknown, field = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => normalize(item));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, held]) => [name, normalize(held, name)]);
    return Object.fromEntries(entries) as unknown;
  }
  if (value === null) return value;
  if (field in changingFields) return changingFields[field];
  if (typeof value !== "string") return value;
  const known = changing.find(([pattern]) => pattern.test(value));
  return known === undefined ? value : known[1](value);
}

/** The names of a body in their order, each with the kind of its value. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).map(([name, held]) => [name, shapeOf(held)]);
  }
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  if (value === aTime) return "time";
  return /^[a-z]{3}_0{26}$/.test(value) ? `an id ${value.slice(0, 4)}` : "string";
}

/** The record of each type, as the reference page of events prints it. */
export function recordsByType(page: string): ReadonlyMap<string, string> {
  const rows = page.matchAll(/^\| `([a-z_.]+)` \|.*\| `(\w+)` \|$/gm);
  return new Map([...rows].map((row) => [row[1] ?? "", row[2] ?? ""]));
}

/** Fields of `data` beyond its record, with the event types that have them. */
const extras: readonly (readonly [name: string, of: RegExp])[] = [
  ["objectVersion", /./],
  ["previousStatus", /./],
];

/** Returns the faults of a body whose `data` is the record; empty if it is valid. */
export function bodyFaults(body: Json, type: string, record: string, schemas: Schemas): string[] {
  const faults: string[] = [];
  const names = Object.keys(body).join();
  if (names !== "id,type,timestamp,data,apiVersion,organizationId") faults.push(`it has ${names}`);
  if (body["type"] !== type) faults.push(`it says ${String(body["type"])}`);
  const data = { ...(body["data"] as Json) };
  if (typeof data["objectVersion"] !== "number") faults.push("data.objectVersion is missing");
  const inRecord = schemas[record]?.properties ?? {};
  const more = extras
    .filter(([name, of]) => of.test(type) && !(name in inRecord))
    .map(([name]) => name);
  const own = Object.entries(data).filter(([name]) => !more.includes(name));
  return [...faults, ...recordFaults(Object.fromEntries(own), record, "data", schemas)];
}

function recordFaults(value: Json, record: string, at: string, schemas: Schemas): string[] {
  const schema = schemas[record];
  if (schema?.properties === undefined) return [`there is no record ${record}`];
  const { properties, required = [] } = schema;
  return [
    ...required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, held]) => {
      const field = properties[name];
      if (field === undefined) return [`${at}.${name} is not in ${record}`];
      return valueFaults(held, field, `${at}.${name}`, schemas);
    }),
  ];
}

function valueFaults(value: unknown, schema: Schema, at: string, schemas: Schemas): string[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    const named = schemas[name];
    if (named === undefined) return [`there is no record ${name}`];
    return named.properties === undefined
      ? valueFaults(value, named, at, schemas)
      : kindFaults(value, "object", at, () => recordFaults(value as Json, name, at, schemas));
  }
  if (schema.anyOf !== undefined) {
    const each = schema.anyOf.map((one) => valueFaults(value, one, at, schemas));
    return each.find((faults) => faults.length === 0) ?? each[0] ?? [];
  }
  if (schema.enum !== undefined) {
    return schema.enum.includes(value) ? [] : [`${at} is none of ${schema.enum.join(", ")}`];
  }
  const kinds = [schema.type ?? []].flat();
  const kind = kindOf(value);
  const fits = kinds.includes(kind) || (kind === "number" && kinds.includes("integer"));
  if (!fits) return [`${at} is a ${kind}`];
  if (!Array.isArray(value)) return [];
  const { items } = schema;
  if (items === undefined) return [];
  return value.flatMap((item, place) =>
    valueFaults(item, items, `${at}[${String(place)}]`, schemas),
  );
}

function kindFaults(value: unknown, kind: string, at: string, then: () => string[]): string[] {
  return kindOf(value) === kind ? then() : [`${at} is a ${kindOf(value)}`];
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
