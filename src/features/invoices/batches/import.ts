import type { z } from "zod";
import { Interrupted, type CommandCall } from "../../../http/declare/command.ts";
import { CsvError, parseCsv, type CsvRow } from "../../../kernel/csv.ts";
import { defineProblem, invalidField, InvalidRequest, Problem } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { cleanPasted } from "../../../kernel/text.ts";
import { readOptionList } from "../../organizations/option-list.ts";
import { ExternalIdConflict } from "../errors.ts";
import { batchMax, type BatchItem, type InvoiceBatch } from "./batch.ts";
import { BatchInvoiceRequest, readItem } from "./records.ts";

/** Lines of a file were refused. */
const LinesRefused = defineProblem({
  code: "lines_refused",
  status: 422,
  title: "Some invoices were not created",
});

/** One reason why a line was refused. */
interface RefusedLine {
  readonly line: number;
  readonly externalId: string | null;
  /** The wrong column; null if the line as a whole is refused. */
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
}

interface ImportReport {
  /** The number of invoices in the file. */
  readonly lines: number;
  readonly created: number;
  /** The number of invoices that an earlier import or request created. */
  readonly existing: number;
  /** The number of refused lines. */
  readonly refused: number;
  /** The number of lines that were not imported because the import failed or was interrupted before. */
  readonly remaining: number;
  /** Empty in a dry run. */
  readonly createdIds: readonly Id<"invoice">[];
  readonly refusals: readonly RefusedLine[];
}

interface ImportResult {
  readonly report: ImportReport;
  /** The error with which the import ended before its last batch; null if it did not. */
  readonly failure: Error | null;
}

/**
 * Creates the invoices of a CSV file in batches, each with `create`. If a line is malformed, nothing is created. An invoice that the store
 * refuses does not affect the others. A repeated import creates only the invoices that do not exist yet.
 * An error or an interruption ends the import with the report of the batches before it.
 */
export async function importInvoices(
  create: (items: readonly BatchItem[]) => Promise<InvoiceBatch>,
  call: Pick<CommandCall, "attempt" | "interruptible" | "isSet" | "progress">,
  text: string,
): Promise<ImportResult> {
  const lines = readLines(text);
  const malformed = lines.filter(isMalformed);
  const refusals = malformed.flatMap((line) => refusalsOf(line, line.item.input as Problem));
  const createdIds: Id<"invoice">[] = [];
  let existing = 0;
  let refused = malformed.length;
  const asked = malformed.length === 0 ? lines : [];
  let tried = 0;

  async function importBatch(batch: readonly ImportLine[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    const { results } = await call.attempt(create(items));
    for (const [index, line] of batch.entries()) {
      const result = results[index];
      if (result?.outcome === "created") createdIds.push(result.invoice.id);
      if (result?.outcome === "existing") existing += 1;
      if (result?.outcome !== "refused") continue;
      refused += 1;
      refusals.push(...refusalsOf(line, result.problem));
    }
    tried += batch.length;
    call.progress("Importing invoices", tried, asked.length);
  }

  const failure = await call.interruptible(async (isInterrupted) => {
    try {
      while (tried < asked.length) {
        if (isInterrupted()) {
          throw new Interrupted("Run the import again: it creates the invoices that remain.");
        }
        await importBatch(asked.slice(tried, tried + batchMax));
      }
      return null;
    } catch (error) {
      // The first batch leaves nothing to report.
      if (tried === 0 || !(error instanceof Error)) throw error;
      return error;
    }
  });
  const report = {
    lines: lines.length,
    created: createdIds.length,
    existing,
    refused,
    remaining: asked.length - tried,
    // A dry run has rolled its invoices back.
    createdIds: call.isSet("dry-run") ? [] : createdIds,
    refusals,
  };
  return { report, failure };
}

/** Returns the problem with which the command ends if lines were refused; null otherwise. */
export function faultOf({ lines, created, existing, refused }: ImportReport): Problem | null {
  if (refused === 0) return null;
  const wrong = `${String(refused)} of ${String(lines)} lines ${refused === 1 ? "was" : "were"} refused`;
  return new LinesRefused(
    created + existing === 0
      ? `${wrong}, and nothing was created. Correct the file and import it again.`
      : `${wrong}; the report says why. Correct them and import the file again: invoices that exist are not created twice.`,
  );
}

function refusalsOf({ line, item }: ImportLine, problem: Problem): RefusedLine[] {
  const { externalId } = item;
  const { code, title, message, errors } = problem;
  // Of a conflict, the errors only say which fields differ.
  if (errors.length === 0 || problem instanceof ExternalIdConflict) {
    return [{ line, externalId, column: null, code, message: `${title}. ${message}` }];
  }
  return errors.map((error) => {
    const column = columnOf(error.pointer ?? "");
    return { line, externalId, column, code: error.code, message: error.message };
  });
}

/** Maximum number of invoices in a file. */
const linesMax = 100_000;
/** The beginning of a column's name that sets one entry of the metadata: `metadata.order`. */
const metadataPrefix = "metadata.";

/** An invoice of a file. */
interface ImportLine {
  /** The number of its line in the file, from 1. */
  readonly line: number;
  readonly item: BatchItem;
}

const fields = Object.keys(BatchInvoiceRequest.shape).filter((name) => name !== "metadata");
const shape: Readonly<Record<string, z.ZodType>> = BatchInvoiceRequest.shape;
/** The fields whose text may need characters that nobody sees. */
const texts = ["externalId", "description", "redirectUrl"];
const requiredFields = fields.filter((name) => shape[name]?.safeParse(undefined).success === false);

/**
 * Reads the invoices of a CSV file. Its first line names the columns. Throws a 400 if the file is not CSV, or its
 * columns are wrong; a wrong line becomes an item with a problem. Spreadsheets write lines of empty cells, and empty cells
 * at the ends of lines: both are left out.
 */
export function readLines(text: string): ImportLine[] {
  const [head, ...others] = rowsOf(text);
  if (head === undefined) throw new InvalidRequest(`The file is empty. ${columnAdvice}`);
  const named = head.cells.map(cleanPasted);
  const columns = named.slice(0, named.findLastIndex((name) => name !== "") + 1);
  checkColumns(columns);
  // Lines of empty cells count, because the rest of a longer file was not read.
  if (others.length > linesMax) {
    throw new InvalidRequest(
      `The file has more than ${String(linesMax)} invoices, the most that a file may have. Divide it.`,
    );
  }
  const rows = others.filter(({ cells }) => !cells.every(isEmpty));
  const lineOf = new Map<string, number>();
  return rows.map((row) => {
    const item = itemOf(columns, row);
    const first = item.externalId === null ? undefined : lineOf.get(item.externalId);
    if (item.externalId === null || first === undefined) {
      if (item.externalId !== null) lineOf.set(item.externalId, row.line);
      return { line: row.line, item };
    }
    const message = `is also on line ${String(first)}; each invoice needs its own`;
    return {
      line: row.line,
      item: { ...item, input: invalidField("/externalId", "repeated", message) },
    };
  });
}

/** Returns the column of an error's pointer: /metadata/order → metadata.order */
function columnOf(pointer: string): string | null {
  const parts = pointer.slice(1).split("/");
  if (pointer === "") return null;
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

const columnAdvice = `The first line names the columns: ${requiredFields.join(", ")}, and optionally ${fields
  .filter((name) => !requiredFields.includes(name))
  .join(", ")} or ${metadataPrefix}<key>, separated by commas.`;

function rowsOf(text: string): CsvRow[] {
  try {
    // The first line names the columns. One invoice too many shows that the file is too long, and the rest is not read.
    return parseCsv(text, 1 + linesMax + 1);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InvalidRequest(`Line ${String(error.line)} is not CSV: ${error.message}.`);
  }
}

function checkColumns(columns: readonly string[]): void {
  const unknown = columns.filter(
    (name) =>
      !fields.includes(name) &&
      !(name.startsWith(metadataPrefix) && name.length > metadataPrefix.length),
  );
  const repeated = columns.filter((name, index) => columns.indexOf(name) !== index);
  const missing = requiredFields.filter((name) => !columns.includes(name));
  const faults = [
    ...unknown.map((name) => `${JSON.stringify(name)} is not a column`),
    ...repeated.map((name) => `${name} is named twice`),
    ...missing.map((name) => `${name} is missing`),
  ];
  if (faults.length > 0) throw new InvalidRequest(`${faults.join("; ")}. ${columnAdvice}`);
}

function itemOf(columns: readonly string[], { cells }: CsvRow): BatchItem {
  if (cells.length < columns.length || !cells.slice(columns.length).every(isEmpty)) {
    const message = `The line has ${String(cells.length)} fields, but the first line names ${String(columns.length)}.`;
    return { externalId: null, input: new InvalidRequest(message) };
  }
  const invoice: Record<string, unknown> = {};
  const metadata: [string, string][] = [];
  for (const [index, name] of columns.entries()) {
    const cell = cells[index] ?? "";
    // An empty cell is an absent field.
    if (isEmpty(cell)) continue;
    if (name.startsWith(metadataPrefix)) metadata.push([name.slice(metadataPrefix.length), cell]);
    else invoice[name] = texts.includes(name) ? cell.trim() : valueOf(name, cleanPasted(cell));
  }
  if (metadata.length > 0) invoice["metadata"] = Object.fromEntries(metadata);
  return readItem(invoice);
}

function isEmpty(cell: string): boolean {
  return cleanPasted(cell) === "";
}

/** Converts a cell to the type of its field. Other text stays as it is, and the field refuses it. */
function valueOf(name: string, cell: string): unknown {
  // Spreadsheets may write a whole number with decimals, such as 3600.00.
  if (name === "expiresInSeconds" && /^\d{1,9}(?:\.0*)?$/.test(cell)) return Number(cell);
  if (name === "paymentOptions") return readOptionList(cell);
  // Spreadsheets write TRUE and FALSE.
  if (name === "draft" && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === "true";
  return cell;
}

/** Whether the line itself is wrong, so that nothing has to be read. */
function isMalformed({ item }: ImportLine): boolean {
  return item.input instanceof Problem;
}
