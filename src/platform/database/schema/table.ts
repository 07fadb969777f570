import { Defect } from "../../../kernel/errors.ts";
import type { Dialect } from "../database.ts";

/** Column types for migrations. */
export interface ColumnTypes {
  /** Text, compared byte by byte. */
  readonly text: string;
  readonly integer: string;
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  readonly json: string;
  /**
   * Returns the type of an amount with its CHECK constraint, which needs the column's name: `` `total
   * ${types.amount("total")} NOT NULL` ``.
   */
  readonly amount: (column: string) => string;
  /** `amount` for amounts that may be negative. */
  readonly signedAmount: (column: string) => string;
  /** A suffix for tables whose key is all or most of the row: SQLite then stores no second copy of the key. */
  readonly keyAlone: string;
  /** Returns statements that forbid updating and deleting rows of a table. */
  readonly appendOnly: (table: string) => readonly string[];
}

export const columnTypes: Readonly<Record<Dialect, ColumnTypes>> = {
  sqlite: {
    text: "TEXT",
    integer: "INTEGER",
    time: "INTEGER",
    flag: "INTEGER",
    json: "TEXT",
    keyAlone: "WITHOUT ROWID",
    amount: (column) => `TEXT CHECK (length(${column}) = 78 AND ${column} NOT GLOB '*[^0-9]*')`,
    signedAmount: (column) =>
      `TEXT CHECK (length(${column}) = 79 AND substr(${column}, 1, 1) IN ('-', '0') AND substr(${column}, 2) NOT GLOB '*[^0-9]*')`,
    appendOnly: (table) =>
      ["UPDATE", "DELETE"].map(
        (change) =>
          `CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
           BEGIN SELECT RAISE(ABORT, 'rows of ${table} are never changed'); END`,
      ),
  },
  postgres: {
    text: 'TEXT COLLATE "C"',
    integer: "BIGINT",
    time: "BIGINT",
    flag: "SMALLINT",
    json: 'TEXT COLLATE "C"',
    keyAlone: "",
    amount: (column) => `TEXT COLLATE "C" CHECK (${column} ~ '^[0-9]{78}$')`,
    signedAmount: (column) => `TEXT COLLATE "C" CHECK (${column} ~ '^[-0][0-9]{78}$')`,
    appendOnly: (table) => [
      `CREATE FUNCTION ${table}_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN RAISE EXCEPTION ''rows of ${table} are never changed''; END'`,
      `CREATE TRIGGER ${table}_no_change BEFORE UPDATE OR DELETE ON ${table}
       FOR EACH ROW EXECUTE FUNCTION ${table}_refuse_change()`,
    ],
  },
};

/** Text, compared byte by byte on both databases. */
export const text = <T extends string = string>(): Column<T> => column("text");

const tables = new Map<string, Table>();
const orders = new WeakMap<Table, number>();

/** Facts about the store by name, such as the fingerprint of its secret. */
export const meta = table("meta", { name: text(), value: text() }, { primaryKey: ["name"] });

/** A value that can be bound to a statement. */
export type SqlValue = string | number | null;

type Kind = "text" | "amount" | "signedAmount" | "integer" | "time" | "flag" | "json";

export interface Column<T> {
  readonly kind: Kind;
  readonly isNullable: boolean;
  /** Returns the same column, nullable. */
  nullable(): Column<T | null>;
  /** Never set; carries the type of the column's value. */
  readonly type?: T;
}

function column<T>(kind: Kind, isNullable = false): Column<T> {
  return { kind, isNullable, nullable: () => column<T | null>(kind, true) };
}

/** A non-negative amount in an asset's smallest unit: 78 zero-padded digits in the store, bigint in the program. */
export const amount = (): Column<bigint> => column("amount");
/**
 * An amount that may be negative: `-` or `0` followed by 78 digits. Negative amounts do not sort by size in the
 * database.
 */
export const signedAmount = (): Column<bigint> => column("signedAmount");
/** A whole number below 2^53, such as a counter or block height. */
export const integer = (): Column<number> => column("integer");
/** Milliseconds since the Unix epoch. */
export const time = (): Column<number> => column("time");
/** A boolean, stored as 1 or 0 on both databases. */
export const flag = (): Column<boolean> => column("flag");
/** A JSON document, stored as text on both databases; nothing searches inside it. */
export const json = <T>(): Column<T> => column("json");

export type Columns = Readonly<Record<string, Column<unknown>>>;
type ValueOf<C> = C extends Column<infer T> ? T : never;
/** The values of some columns, by property. */
export type ValuesOf<C extends Columns> = { readonly [K in keyof C]: ValueOf<C[K]> };
export type RowOf<T extends Table> = ValuesOf<T["columns"]>;

interface Index {
  readonly name: string;
  /** Property names, or expressions in lowercase SQL and parentheses. */
  readonly columns: readonly string[];
  readonly unique?: boolean;
  /** The condition of a partial index, in SQL that both databases accept. */
  readonly where?: string;
}

export interface Table<C extends Columns = Columns> {
  readonly name: string;
  readonly columns: C;
  /** Property names of the primary key. */
  readonly primaryKey: readonly string[];
  readonly indexes: readonly Index[];
}

/**
 * Declares a table. Its row type, its statements and the drift test against the migrations are derived from this
 * declaration. Properties are camelCase here and snake_case in the database.
 */
export function table<const C extends Columns>(
  name: string,
  columns: C,
  keys: { readonly primaryKey: readonly (keyof C & string)[]; readonly indexes?: readonly Index[] },
): Table<C> {
  if (tables.has(name)) throw new Defect(`the table ${name} is declared twice`);
  const declared: Table<C> = {
    name,
    columns,
    primaryKey: keys.primaryKey,
    indexes: keys.indexes ?? [],
  };
  orders.set(declared, tables.size);
  tables.set(name, declared);
  return declared;
}

/** Returns the position of a table among all declared tables; a table comes after those that it references. */
export function declarationOrder(declared: Table): number {
  return orders.get(declared) ?? 0;
}

/** Returns all declared tables, for the drift test and for naming a violated index. */
export function declaredTables(): readonly Table[] {
  return [...tables.values()];
}

/** Converts a property name: invoiceId → invoice_id. */
export function columnName(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const amountDigits = 78;

/** Encodes an amount. The largest unsigned 256-bit number has 78 digits. */
export function encodeAmount(value: bigint): string {
  const digits = value.toString();
  if (value < 0n || digits.length > amountDigits)
    throw new Defect(`an amount of ${digits} cannot be stored`);
  return digits.padStart(amountDigits, "0");
}

export function decodeAmount(stored: string): bigint {
  if (!/^\d{78}$/.test(stored)) throw new Defect(`'${stored}' is not a stored amount`);
  return BigInt(stored);
}

/** Encodes an amount that may be negative. */
function encodeSignedAmount(value: bigint): string {
  return value < 0n ? `-${encodeAmount(-value)}` : `0${encodeAmount(value)}`;
}

export function decodeSignedAmount(stored: string): bigint {
  const size = decodeAmount(stored.slice(1));
  if (stored.startsWith("0")) return size;
  if (stored.startsWith("-") && size > 0n) return -size;
  throw new Defect(`'${stored}' is not a stored amount with a sign`);
}

/** Encodes a property's value for a statement. */
export function encodeValue(declared: Column<unknown>, value: unknown): SqlValue {
  if (value === null || value === undefined) {
    if (declared.isNullable) return null;
    throw new Defect(`a value is missing for a ${declared.kind} column that is not nullable`);
  }
  switch (declared.kind) {
    case "amount":
      return encodeAmount(value as bigint);
    case "signedAmount":
      return encodeSignedAmount(value as bigint);
    case "flag":
      return value === true ? 1 : 0;
    case "json":
      return JSON.stringify(value);
    case "text":
      return value as string;
    case "integer":
    case "time":
      if (typeof value !== "number" || !Number.isSafeInteger(value)) {
        throw new Defect("the value is not a whole number below 2^53");
      }
      return value;
  }
}

/** Decodes a stored value. */
export function decodeValue(declared: Column<unknown>, stored: unknown): unknown {
  if (stored === null || stored === undefined) return null;
  switch (declared.kind) {
    case "amount":
      return decodeAmount(stored as string);
    case "signedAmount":
      return decodeSignedAmount(stored as string);
    case "flag":
      return stored === 1;
    case "json":
      return JSON.parse(stored as string) as unknown;
    case "text":
    case "integer":
    case "time":
      return stored;
  }
}
