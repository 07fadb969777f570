import { organization } from "../../../api/declare/access.ts";
import { operation } from "../../../api/declare/operation.ts";
import { presentBatch } from "./present.ts";
import { readItem } from "./read-item.ts";
import { CreateInvoiceBatchRequest, InvoiceBatchRecord } from "./records.ts";
import { createInvoiceBatch } from "./service.ts";

export const batchOperations = [
  operation({
    id: "createInvoiceBatch",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices/batch",
    summary: "Create up to 100 invoices",
    description:
      "Each invoice needs an `externalId` and gets a result of its own, in the order of the request: a refused invoice does not affect the others. All of them are stored in one transaction, so a failed request has created nothing. Safe to repeat: an invoice that exists is returned as `existing`. A repeated Idempotency-Key returns the first response unchanged, with the refused invoices; to retry those, use a new key. A credential may send 60 batches a minute, which count apart from its other requests. If eight batches of the organization are already waiting, the request gets 429 `rate_limited` and has created nothing; repeat it after `Retry-After`. The body has at most 256 KiB.",
    access: organization("invoices:write"),
    limit: "batch",
    request: { body: CreateInvoiceBatchRequest },
    response: { status: 200, record: InvoiceBatchRecord },
    errors: [],
    handle: (app, call) =>
      createInvoiceBatch(app, call.context, call.organizationId, call.body.invoices.map(readItem)),
    present: presentBatch,
  }),
];
