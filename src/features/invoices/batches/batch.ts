import { Problem } from "../../../kernel/errors.ts";
import { StoreUnavailable } from "../../../platform/database/errors.ts";
import type { InvoiceView } from "../present.ts";
import type { InvoiceInput } from "../issuing/create.ts";

/** Maximum number of invoices in a batch. */
export const batchMax = 100;

export interface BatchInput extends InvoiceInput {
  readonly externalId: string;
}

/** One invoice of a batch: its fields, or the problem with which they were refused. */
export interface BatchItem {
  /** As the request states it; null if it is missing or malformed. */
  readonly externalId: string | null;
  readonly input: BatchInput | Problem;
}

/** The result of one invoice. `existing`: an identical request created it earlier. */
export type BatchOutcome =
  | { readonly outcome: "created" | "existing"; readonly invoice: InvoiceView }
  | { readonly outcome: "refused"; readonly problem: Problem };

export interface InvoiceBatch {
  /** In the order of the request. */
  readonly results: readonly (BatchOutcome & { readonly externalId: string | null })[];
  readonly requestId: string | null;
  readonly baseUrl: string;
}

/** Whether an error refuses one invoice, and does not concern the whole request. */
export function isRefusal(error: unknown): error is Problem {
  return error instanceof Problem && !(error instanceof StoreUnavailable);
}

/** Returns the outcome for a problem of one invoice. Rethrows errors that concern the whole request. */
export function refusedFor(error: unknown): BatchOutcome {
  if (!isRefusal(error)) throw error;
  return { outcome: "refused", problem: error };
}
