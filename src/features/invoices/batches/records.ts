import * as z from "zod";
import {
  asWritten,
  describeFields,
  itemsRecord,
  record,
  responseRecord,
} from "../../../http/declare/record.ts";
import { problemDocument, ProblemRecord } from "../../../http/declare/problems.ts";
import { parseBody } from "../../../http/declare/request.ts";
import { Problem } from "../../../kernel/errors.ts";
import { CreateInvoiceRequest, externalIdText, InvoiceRecord, presentInvoice } from "../records.ts";
import { batchMax, type BatchInput, type BatchItem, type InvoiceBatch } from "./batch.ts";

/** An invoice of a batch: the fields of a single create, with a required externalId. */
export const BatchInvoiceRequest = record(
  "BatchInvoiceRequest",
  CreateInvoiceRequest.extend({ externalId: externalIdText() }),
);
describeFields(BatchInvoiceRequest, {
  externalId:
    "The merchant's own number, unique in the organization. A repeated request with it returns the first invoice. Its payer sees it.",
});

/** The invoices are parsed one by one, so that a malformed one does not refuse the others. */
export const CreateInvoiceBatchRequest = itemsRecord("CreateInvoiceBatchRequest", {
  invoices: z.array(asWritten("BatchInvoiceRequest")).min(1).max(batchMax),
});
describeFields(CreateInvoiceBatchRequest, {
  invoices: "The invoices to create, each with its own `externalId`.",
});

const InvoiceBatchResult = responseRecord("InvoiceBatchResult", {
  index: z.int().meta({ description: "The invoice's place in the request, from 0." }),
  externalId: z.string().nullable().meta({
    description: "As in the request; null if it is missing or malformed.",
  }),
  outcome: z.enum(["created", "existing", "refused"]).meta({
    description:
      "`created`: the invoice is new. `existing`: a request with the same `externalId` and the same fields created it earlier, and `invoice` shows it as it is now. `refused`: `problem` says why, and nothing was created.",
  }),
  invoice: InvoiceRecord.nullable(),
  problem: ProblemRecord.nullable().meta({
    description:
      "The problem that a single create would have answered. The `pointer` of its errors starts at the invoice: `/amount`.",
  }),
});
describeFields(InvoiceBatchResult, {
  invoice: "The invoice; null if it was refused.",
});

export const InvoiceBatchRecord = responseRecord("InvoiceBatch", {
  results: z.array(InvoiceBatchResult).meta({
    description: "One result for each invoice, in the order of the request.",
  }),
});

export function presentBatch({
  results,
  requestId,
  baseUrl,
}: InvoiceBatch): z.input<typeof InvoiceBatchRecord> {
  return {
    results: results.map((result, index) => ({
      index,
      externalId: result.externalId,
      outcome: result.outcome,
      invoice: result.outcome === "refused" ? null : presentInvoice(result.invoice),
      problem:
        result.outcome === "refused"
          ? problemDocument(result.problem, requestId ?? "", baseUrl)
          : null,
    })),
  };
}

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
