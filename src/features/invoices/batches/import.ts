import type { Id } from "../../../kernel/id.ts";
import { defineProblem, type Problem } from "../../../kernel/errors.ts";
import { Interrupted, type CommandCall } from "../../../api/declare/command.ts";
import { ExternalIdConflict } from "../errors.ts";
import { batchMax, type BatchItem, type InvoiceBatch } from "./batch.ts";
import { columnOf, isMalformed, readLines, type ImportLine } from "./read-lines.ts";

/** Lines of a file were refused. */
const LinesRefused = defineProblem({
  code: "lines_refused",
  status: 422,
  title: "Some invoices were not created",
});

/** One reason why a line was refused. */
export interface RefusedLine {
  readonly line: number;
  readonly externalId: string | null;
  /** The wrong column; null if the line as a whole is refused. */
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
}

export interface ImportReport {
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

export interface ImportResult {
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
    for (const [place, line] of batch.entries()) {
      const result = results[place];
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
