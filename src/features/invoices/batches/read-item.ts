import { parseBody } from "../../../api/declare/request.ts";
import { Problem } from "../../../kernel/errors.ts";
import { externalIdText } from "../records.ts";
import { BatchInvoiceRequest } from "./records.ts";
import type { BatchInput, BatchItem } from "./batch.ts";

const externalIdOf = externalIdText();

/** Parses one invoice of a batch. A malformed one becomes a problem with pointers from the invoice on. */
export function readItem(item: unknown): BatchItem {
  try {
    const input = parseBody(BatchInvoiceRequest, item) as BatchInput;
    return { externalId: input.externalId, input };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const stated = externalIdOf.safeParse((item as { externalId?: unknown } | null)?.externalId);
    const isIntact = stated.success && stated.data.isWellFormed();
    return { externalId: isIntact ? stated.data : null, input: error };
  }
}
