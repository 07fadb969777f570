import { Defect } from "../../../kernel/errors.ts";
import type { RawRow } from "../database.ts";
import {
  columnName,
  decodeValue,
  encodeValue,
  type Column,
  type RowOf,
  type SqlValue,
  type Table,
} from "./table.ts";

/** A column of a table, with its names in rows and in the database. */
export interface ShapeColumn {
  readonly property: string;
  readonly name: string;
  readonly declared: Column<unknown>;
}

/** The statements for a table, built once from its declaration. */
interface Shape {
  readonly columns: readonly ShapeColumn[];
  /** The columns whose stored form differs from the row's. */
  readonly decoded: readonly ShapeColumn[];
  readonly select: string;
  readonly insert: string;
  readonly insertIfAbsent: string;
  /** INSERT statements by number of rows. */
  readonly inserts: Map<number, string>;
  /** Statements that change given columns, by these columns. */
  readonly updates: Map<string, string>;
}

const shapes = new WeakMap<Table, Shape>();

/** Returns the columns of a table and its statements. */
export function shapeOf(table: Table): Shape {
  let shape = shapes.get(table);
  if (shape === undefined) {
    shape = makeShape(table);
    shapes.set(table, shape);
  }
  return shape;
}

const decodedKinds: ReadonlySet<string> = new Set(["amount", "signedAmount", "flag", "json"]);

function makeShape(table: Table): Shape {
  const columns = Object.entries(table.columns).map(([property, declared]) => ({
    property,
    name: columnName(property),
    declared,
  }));
  const insert = insertOf(table, columns, 1);
  return {
    columns,
    decoded: columns.filter(({ declared }) => decodedKinds.has(declared.kind)),
    select: `SELECT ${selectList(columns, "")} FROM ${table.name}`,
    insert,
    insertIfAbsent: `${insert} ON CONFLICT DO NOTHING`,
    inserts: new Map(),
    updates: new Map(),
  };
}

function selectList(columns: readonly ShapeColumn[], prefix: string): string {
  return columns
    .map(({ property, name }) =>
      property === name ? `${prefix}${name}` : `${prefix}${name} AS "${property}"`,
    )
    .join(", ");
}

/**
 * Returns a select list of a table's columns under their property names, for joins and RETURNING; `decodeRows` decodes
 * the result. `alias` is the table's alias in the statement.
 */
export function columns(table: Table, alias?: string): string {
  return selectList(shapeOf(table).columns, alias === undefined ? "" : `${alias}.`);
}

/** Decodes rows that were selected with `columns(table)`, or some of these columns. */
export function decodeRows<T extends Table>(table: T, stored: readonly RawRow[]): RowOf<T>[] {
  const { decoded } = shapeOf(table);
  // The driver created these objects for this call, so they are modified in place.
  const rows = stored as Record<string, unknown>[];
  const [first = {}] = rows;
  for (const { property, declared } of decoded) {
    if (!(property in first)) continue;
    for (const row of rows) row[property] = decodeValue(declared, row[property]);
  }
  return rows as RowOf<T>[];
}

/** Returns a row's encoded values in the order of its table's columns. */
export function encodeRow<T extends Table>(table: T, row: RowOf<T>): SqlValue[] {
  return encodeColumns(table, shapeOf(table).columns, row);
}

/** Returns the encoded values of some columns. */
export function encodeColumns(
  table: Table,
  of: readonly ShapeColumn[],
  row: Readonly<Record<string, unknown>>,
): SqlValue[] {
  return of.map(({ property, declared }) => {
    try {
      return encodeValue(declared, row[property]);
    } catch (error) {
      throw error instanceof Defect
        ? new Defect(`${table.name}.${property}: ${error.message}`)
        : error;
    }
  });
}

export function selectStatement(table: Table, rest: string): string {
  return `${shapeOf(table).select} ${rest}`;
}

export function insertStatement(table: Table): string {
  return shapeOf(table).insert;
}

export function insertIfAbsentStatement(table: Table): string {
  return shapeOf(table).insertIfAbsent;
}

/** Returns an INSERT of the given number of rows, with a parameter for each value. */
export function insertRowsStatement(table: Table, rows: number): string {
  const shape = shapeOf(table);
  let sql = shape.inserts.get(rows);
  if (sql === undefined) {
    sql = insertOf(table, shape.columns, rows);
    shape.inserts.set(rows, sql);
  }
  return sql;
}

function insertOf(table: Table, columns: readonly ShapeColumn[], rows: number): string {
  const parameters = Array.from({ length: rows }, (_row, row) => {
    const numbers = columns.map((_column, index) => `$${String(row * columns.length + index + 1)}`);
    return `(${numbers.join(", ")})`;
  });
  return `INSERT INTO ${table.name} (${namesOf(columns)}) VALUES ${parameters.join(", ")}`;
}

function namesOf(columns: readonly ShapeColumn[]): string {
  return columns.map(({ name }) => name).join(", ");
}

/** Returns an UPDATE of some columns. The values of `where` come first, so that its text needs no renumbering. */
export function updateStatement<T extends Table>(
  table: T,
  set: Partial<RowOf<T>>,
  where: string,
  values: readonly SqlValue[],
): { sql: string; values: SqlValue[] } {
  const shape = shapeOf(table);
  const given = set as Readonly<Record<string, unknown>>;
  const changed = shape.columns.filter(({ property }) => property in given);
  if (changed.length !== Object.keys(given).length) {
    throw new Defect(
      `${table.name} does not have all of the columns ${Object.keys(given).join(", ")}`,
    );
  }
  if (changed.length === 0) throw new Defect(`an update of ${table.name} sets nothing`);
  if (!where.startsWith("WHERE ")) throw new Defect(`an update of ${table.name} needs a WHERE`);
  const key = `${changed.map(({ name }) => name).join()} ${where}`;
  let sql = shape.updates.get(key);
  if (sql === undefined) {
    const sets = changed.map(
      ({ name }, index) => `${name} = $${String(values.length + index + 1)}`,
    );
    sql = `UPDATE ${table.name} SET ${sets.join(", ")} ${where}`;
    shape.updates.set(key, sql);
  }
  return { sql, values: [...values, ...encodeColumns(table, changed, given)] };
}
