import type { AnyColumn, CellValue } from "../../http/declare/command.ts";
import { drawBars } from "./drawing/sparkline.ts";
import { printable } from "./terminal.ts";

/** Returns the cells of a column for all items; `separator` joins the elements of a list. */
export function cellsOf(
  column: AnyColumn,
  items: readonly unknown[],
  separator: string,
): readonly string[] {
  const cells = rawCellsOf(column, items, separator);
  return typeof column === "object" && "bar" in column ? drawBars(cells) : cells;
}

/** `cellsOf` in which bars are still numbers. */
export function rawCellsOf(
  column: AnyColumn,
  items: readonly unknown[],
  separator: string,
): readonly string[] {
  return items.map((item) => format(valueOf(column, item), separator));
}

/** Returns the field that a column shows; for a computed column, its title as a field would be named. */
export function fieldOf(column: AnyColumn): string {
  if (typeof column === "object" && "value" in column) return column.title.toLowerCase();
  return fieldsOf(column)[0] ?? "";
}

function valueOf(column: AnyColumn, item: unknown): CellValue {
  if (typeof column === "object" && "value" in column) return column.value(item as never);
  const [field = "", unit] = fieldsOf(column);
  const record = item as Readonly<Record<string, CellValue>>;
  const value = record[field] ?? null;
  return unit === undefined || value === null
    ? value
    : `${format(value, "")} ${format(record[unit] ?? null, "")}`;
}

function fieldsOf(column: Exclude<AnyColumn, { readonly value: unknown }>): readonly string[] {
  if (typeof column === "string") return column.split(" ");
  return "bar" in column ? [column.bar] : column[0].split(" ");
}

function format(value: CellValue, separator: string): string {
  if (value === null || value === "") return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return printable(String(value)).replaceAll("\n", " ");
  return value.length === 0 ? "-" : format(value.join(separator), "");
}

/** Returns the title of a column: its own, or the one derived from its field's name. Bars have none. */
export function titleOf(column: AnyColumn): string {
  if (typeof column === "string") return deriveTitle(column.split(" ")[0] ?? "");
  if ("title" in column) return column.title;
  return "bar" in column ? "" : column[1];
}

/** Last words of a field's name that only say what kind of value it has: `createdAt`, `invoiceId`. */
const kindsOfValues =
  /^(address|amount|at|email|hash|id|label|name|number|status|symbol|type|url)$/;
/** The same for several values, or for their number: `transactionHashes`, `paymentCount`. */
const kindsOfSeveral = /^(count|hashes)$/;
const initialisms: Readonly<Record<string, string>> = { id: "ID", ms: "ms", url: "URL" };

/** Derives a title in sentence case: "Last used" from `lastUsedAt`, "Payments" from `paymentCount`. */
function deriveTitle(field: string): string {
  const words = field
    .replace(/^is(?=[A-Z])/, "")
    .replaceAll(/\B[A-Z]/g, " $&")
    .toLowerCase()
    .split(" ");
  const last = words.at(-1) ?? "";
  if (words.length > 1 && kindsOfValues.test(last)) words.pop();
  if (words.length > 1 && kindsOfSeveral.test(last)) words.splice(-2, 2, `${words.at(-2) ?? ""}s`);
  const text = words.map((word) => initialisms[word] ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
