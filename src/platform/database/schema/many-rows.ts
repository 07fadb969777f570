import { Defect } from "../../../kernel/errors.ts";
import type { Dialect, RowChange } from "../database.ts";
import { givenField, givenValues } from "../query/json-rows.ts";
import { columns, encodeColumns, encodeRow, shapeOf, type ShapeColumn } from "./statements.ts";
import type { RowOf, SqlValue, Table } from "./table.ts";

// Statements for many rows, which are bound as one JSON array of arrays. Their texts do not depend on the number of
// rows.

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Returns an INSERT for PostgreSQL of any number of rows. */
export function insertJsonStatement(table: Table, parameter: number): string {
  const all = shapeOf(table).columns;
  return `INSERT INTO ${table.name} (${namesOf(all)}) SELECT ${fieldsOf(all)} FROM ${givenValues("postgres", parameter)}`;
}

/** Returns an UPDATE that finds rows by their own values and sets each to its own. */
export function updateManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  changes: readonly RowChange<T>[],
  returning: readonly (keyof RowOf<T>)[],
): Statement {
  const shape = shapeOf(table);
  const [keys, set] = [columnsOf(table, changes[0]?.where), columnsOf(table, changes[0]?.set)];
  const all = [...keys, ...set];
  const rows = changes.map(({ where, set: to }) => {
    if (!hasExactly(keys, where) || !hasExactly(set, to)) {
      throw new Defect(`the changes of ${table.name} do not name the same columns`);
    }
    return [...encodeColumns(table, keys, where), ...encodeColumns(table, set, to)];
  });
  const key = `${dialect} ${namesOf(keys)} ${namesOf(set)} ${returning.join()}`;
  let sql = shape.updates.get(key);
  if (sql === undefined) {
    const fields = all.map(({ declared }, index) => givenField(declared, index, "given."));
    const found = keys.map(({ name }, index) => `${table.name}.${name} = ${fields[index] ?? ""}`);
    const sets = set.map(({ name }, index) => `${name} = ${fields[keys.length + index] ?? ""}`);
    const back = shape.columns
      .filter(({ property }) => returning.includes(property))
      .map(({ property, name }) => `${table.name}.${name} AS "${property}"`);
    sql =
      `UPDATE ${table.name} SET ${sets.join(", ")} FROM ${givenAs(dialect)} WHERE ${found.join(" AND ")}` +
      (back.length === 0 ? "" : ` RETURNING ${back.join(", ")}`);
    shape.updates.set(key, sql);
  }
  return { sql, values: [JSON.stringify(rows)] };
}

/** Returns an INSERT of rows that replaces those with the same primary key. */
export function upsertManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  rows: readonly RowOf<T>[],
): Statement {
  const all = shapeOf(table).columns;
  const isKey = ({ property }: ShapeColumn) => table.primaryKey.includes(property);
  const sets = all
    .filter((column) => !isKey(column))
    .map(({ name }) => `${name} = excluded.${name}`);
  // Without WHERE, SQLite reads ON CONFLICT as the condition of a join.
  const sql = `INSERT INTO ${table.name} (${namesOf(all)}) SELECT ${fieldsOf(all)} FROM ${givenValues(dialect, 1)}
    WHERE true ON CONFLICT (${namesOf(all.filter(isKey))}) DO UPDATE SET ${sets.join(", ")}`;
  return { sql, values: [JSON.stringify(rows.map((row) => encodeRow(table, row)))] };
}

/** Returns a DELETE of the rows that have one of some combinations of values; it returns them. */
export function deleteManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  keys: readonly Partial<RowOf<T>>[],
): Statement {
  const named = columnsOf(table, keys[0]);
  const rows = keys.map((key) => {
    if (!hasExactly(named, key)) {
      throw new Defect(`the keys of ${table.name} do not name the same columns`);
    }
    return encodeColumns(table, named, key);
  });
  const from = `DELETE FROM ${table.name}`;
  const names = named.map(({ name }) => `${table.name}.${name}`);
  const found =
    dialect === "sqlite"
      ? `WHERE (${names.join(", ")}) IN (SELECT ${fieldsOf(named)} FROM ${givenValues(dialect, 1)})`
      : `USING ${givenAs(dialect)} WHERE ${named
          .map(
            ({ declared }, index) =>
              `${names[index] ?? ""} = ${givenField(declared, index, "given.")}`,
          )
          .join(" AND ")}`;
  return {
    sql: `${from} ${found} RETURNING ${columns(table, table.name)}`,
    values: [JSON.stringify(rows)],
  };
}

function columnsOf(table: Table, given: object | undefined): readonly ShapeColumn[] {
  const properties = Object.keys(given ?? {});
  const named = shapeOf(table).columns.filter(({ property }) => properties.includes(property));
  if (named.length === 0 || named.length !== properties.length) {
    throw new Defect(`${table.name} does not have all of the columns ${properties.join(", ")}`);
  }
  return named;
}

function hasExactly(named: readonly ShapeColumn[], given: object): boolean {
  return (
    Object.keys(given).length === named.length && named.every(({ property }) => property in given)
  );
}

const givenAs = (dialect: Dialect): string =>
  `${givenValues(dialect, 1)} AS ${dialect === "sqlite" ? "given" : "given (value)"}`;

function namesOf(of: readonly ShapeColumn[]): string {
  return of.map(({ name }) => name).join(", ");
}

function fieldsOf(of: readonly ShapeColumn[]): string {
  return of.map(({ declared }, index) => givenField(declared, index)).join(", ");
}
