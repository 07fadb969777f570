import { expect } from "chai";

export type Json = Readonly<Record<string, unknown>>;

/** The types of section 2. Each throws if a value is of another type. */
export const type = {
  string: (value: unknown): string => {
    expect(value).to.be.a("string").and.not.equal("");
    return value as string;
  },
  /** ISO 8601 with milliseconds and a Z suffix. */
  dateTime: (value: unknown): string => {
    expect(type.string(value)).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(new Date(value as string).toISOString()).to.equal(value);
    return value as string;
  },
  /** Decimal digits, never a JSON number. */
  amount: (value: unknown): string => {
    expect(type.string(value)).to.match(/^(0|[1-9]\d*)(\.\d+)?$/);
    return value as string;
  },
  uri: (value: unknown): string => {
    expect(URL.canParse(type.string(value)), String(value)).to.equal(true);
    return value as string;
  },
  integer: (value: unknown): number => {
    expect(Number.isInteger(value), JSON.stringify(value)).to.equal(true);
    return value as number;
  },
  object: (value: unknown): Json => {
    expect(value).to.be.an("object");
    return value as Json;
  },
  array: (value: unknown): readonly unknown[] => {
    expect(value).to.be.an("array");
    return value as readonly unknown[];
  },
} as const;

/** A row of a table of section 2: a field, its type with its note, and the check of its value. */
export type FieldRow = readonly [field: string, what: string, check: (value: unknown) => unknown];

/** Declares one test per row; `read` returns the record and is called once the suite runs. */
export function testFields(
  record: string,
  rows: readonly FieldRow[],
  read: () => Json | Promise<Json>,
): void {
  for (const [field, what, check] of rows) {
    it(`§2 ${record}.${field} is ${what}`, async () => {
      const value = await read();
      expect(value).to.have.property(field);
      await check(value[field]);
    });
  }
}
