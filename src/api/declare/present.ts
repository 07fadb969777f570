import * as z from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";

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
