import { columnName, encodeValue, type Column, type Columns } from "../schema/table.ts";
import type { SqlValue, ValuesOf } from "../schema/table.ts";
import type { Dialect } from "../database.ts";

/**
 * Returns a subquery with the values of a bound JSON list, for `WHERE id IN ${listed(dialect, 1)}`. The list is given
 * by parameter number or placeholder.
 */
export function listed(dialect: Dialect, parameter: number | string): string {
  const bound = typeof parameter === "number" ? `$${String(parameter)}` : parameter;
  return dialect === "sqlite"
    ? `(SELECT value FROM json_each(${bound}))`
    : `(SELECT json_array_elements_text(CAST(${bound} AS json)))`;
}

/**
 * Returns the right side of `WHERE id ${among(…)}` for the ids that a subquery in parentheses selects. With IN,
 * PostgreSQL may overestimate them and scan a table of a few thousand rows; with an array it uses the index.
 */
export function among(dialect: Dialect, subquery: string): string {
  return dialect === "sqlite" ? `IN ${subquery}` : `= ANY (ARRAY${subquery})`;
}

/** Returns SQL for a JSON array of some expressions. */
export function jsonArray(dialect: Dialect, expressions: string): string {
  return `${dialect === "sqlite" ? "json_array" : "json_build_array"}(${expressions})`;
}

/** Returns SQL for a JSON array of an expression of each row of a source, in an order; empty without rows. */
export function jsonRows(
  dialect: Dialect,
  { each, order, source }: Readonly<Record<"each" | "order" | "source", string>>,
): string {
  return dialect === "sqlite"
    ? `json((SELECT json_group_array(${each} ORDER BY ${order}) FROM ${source}))`
    : `(SELECT coalesce(json_agg(${each} ORDER BY ${order}), CAST('[]' AS json)) FROM ${source})`;
}

/** Returns SQL for the texts of a bound JSON list in a FROM clause: `value`, and `key`, which is their order. */
export function givenTexts(dialect: Dialect, parameter: number, alias: string): string {
  const bound = `$${String(parameter)}`;
  return dialect === "sqlite"
    ? `json_each(${bound}) AS ${alias}`
    : `json_array_elements_text(CAST(${bound} AS json)) WITH ORDINALITY AS ${alias} (value, key)`;
}

/** Returns SQL for the texts of a JSON list in a column: for a FROM clause, their values, and their indexes from 0. */
export function listedTexts(dialect: Dialect, column: string, alias: string) {
  const value = `${alias}.value`;
  return dialect === "sqlite"
    ? { source: `json_each(${column}) AS ${alias}`, value, index: `${alias}.key` }
    : {
        source: `jsonb_array_elements_text(CAST(${column} AS jsonb)) WITH ORDINALITY AS ${alias} (value, number)`,
        value,
        index: `CAST(${alias}.number - 1 AS text)`,
      };
}

/** Returns SQL for the elements of a JSON list in a column, for a FROM clause: `value` of the alias. */
export function listedValues(dialect: Dialect, column: string, alias: string): string {
  return dialect === "sqlite"
    ? `json_each(${column}) AS ${alias}`
    : `jsonb_array_elements(CAST(${column} AS jsonb)) AS ${alias} (value)`;
}

/** Returns SQL that joins the texts of all rows with spaces. */
export function joinedTexts(dialect: Dialect, text: string): string {
  return `${dialect === "sqlite" ? "group_concat" : "string_agg"}(${text}, ' ')`;
}

/** Returns SQL for a text of at most `length` digits with zeros in front. */
export function withZeros(dialect: Dialect, text: string, length: number): string {
  return dialect === "sqlite"
    ? `substr('${"0".repeat(length)}' || ${text}, -${String(length)})`
    : `lpad(${text}, ${String(length)}, '0')`;
}

/**
 * Returns SQL for the elements of a bound JSON list in a FROM clause; its only column that may be used is `value`. On
 * PostgreSQL they are jsonb: a field of json is found by parsing the whole element again.
 */
export function givenValues(dialect: Dialect, parameter: number): string {
  const bound = `$${String(parameter)}`;
  return dialect === "sqlite"
    ? `json_each(${bound})`
    : `jsonb_array_elements(CAST(${bound} AS jsonb))`;
}

/** Returns SQL for a field of `value`, a JSON array, in the stored type of a column. */
export function givenField({ kind }: Column<unknown>, index: number, alias = ""): string {
  const field = `${alias}value ->> ${String(index)}`;
  if (kind === "integer" || kind === "time") return `CAST(${field} AS bigint)`;
  return kind === "flag" ? `CAST(${field} AS smallint)` : field;
}

/** Rows that a statement receives as one parameter, to read or join them. */
interface GivenRows<C extends Columns> {
  /** Returns the rows for a FROM clause. Their columns have the names and types of a table's. */
  from(dialect: Dialect, parameter: number): string;
  /** Returns the value of the parameter. */
  values(rows: readonly ValuesOf<C>[]): string;
}

/** Declares rows that are given to a statement under an alias. */
export function givenRows<const C extends Columns>(alias: string, columns: C): GivenRows<C> {
  const declared = Object.entries(columns);
  const fields = declared.map(
    ([property, column], index) => `${givenField(column, index)} AS ${columnName(property)}`,
  );
  return {
    from: (dialect, parameter) =>
      `(SELECT ${fields.join(", ")} FROM ${givenValues(dialect, parameter)}) AS ${alias}`,
    values: (rows) =>
      JSON.stringify(
        rows.map((row: Readonly<Record<string, unknown>>) =>
          declared.map(([property, column]): SqlValue => encodeValue(column, row[property])),
        ),
      ),
  };
}

/** Builds a statement for each database once, for statements that run often. */
export function forEachDialect(
  build: (dialect: Dialect) => string,
): Readonly<Record<Dialect, string>> {
  return { sqlite: build("sqlite"), postgres: build("postgres") };
}
