import type { Id } from "../../../kernel/id.ts";
import { defineProblem, type Problem } from "../../../kernel/errors.ts";
import type { CommandCall } from "../../../api/declare/command.ts";
import { batchMax } from "./batch.ts";
import { columnOf, isMalformed, readLines, type ImportLine } from "./read-lines.ts";
import type { InvoiceBatchService } from "./service.ts";

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
  readonly createdIds: readonly Id<"invoice">[];
  readonly refusals: readonly RefusedLine[];
}

/**
 * Creates the invoices of a CSV file in batches. If a line is malformed, nothing is created. An invoice that the store
 * refuses does not affect the others. A repeated import creates only the invoices that do not exist yet.
 */
export async function importInvoices(
  service: InvoiceBatchService,
  call: Pick<CommandCall, "context" | "attempt">,
  organizationId: Id<"organization">,
  text: string,
): Promise<ImportReport> {
  const lines = readLines(text);
  const malformed = lines.filter(isMalformed);
  const refusals = malformed.flatMap((line) => refusalsOf(line, line.item.input as Problem));
  const createdIds: Id<"invoice">[] = [];
  let existing = 0;
  let refused = malformed.length;
  for (let start = 0; malformed.length === 0 && start < lines.length; start += batchMax) {
    const batch = lines.slice(start, start + batchMax);
    const items = batch.map(({ item }) => item);
    const { results } = await call.attempt(service.create(call.context, organizationId, items));
    for (const [place, line] of batch.entries()) {
      const result = results[place];
      if (result?.outcome === "created") createdIds.push(result.invoice.id);
      if (result?.outcome === "existing") existing += 1;
      if (result?.outcome !== "refused") continue;
      refused += 1;
      refusals.push(...refusalsOf(line, result.problem));
    }
  }
  const created = createdIds.length;
  return { lines: lines.length, created, existing, refused, createdIds, refusals };
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
  if (errors.length === 0) {
    return [{ line, externalId, column: null, code, message: `${title}. ${message}` }];
  }
  return errors.map((error) => {
    const column = columnOf(error.pointer ?? "");
    return { line, externalId, column, code: error.code, message: error.message };
  });
}
