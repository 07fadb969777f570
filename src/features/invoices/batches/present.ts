import type { z } from "zod";
import { problemDocument } from "../../../api/declare/problems.ts";
import { presentInvoice } from "../present.ts";
import type { InvoiceBatchRecord } from "./records.ts";
import type { InvoiceBatch } from "./batch.ts";

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
