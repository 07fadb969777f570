import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import type { Page } from "../../kernel/page.ts";
import { ManagedByBilling } from "../invoices/index.ts";
import type { TransferDesk } from "./allocation.ts";
import {
  AllocationTooLarge,
  InvoiceNotPayable,
  TokenMismatch,
  TransferAllocated,
  TransferNotCreditable,
  TransferReverted,
} from "./errors.ts";
import { presentTransfer, type TransferView } from "./transfer-present.ts";
import {
  AllocateTransferRequest,
  TransferListRecord,
  transferQuery,
  TransferRecord,
} from "./transfer-records.ts";

const operation = operationsOf<TransferDesk>();

export const transferOperations = [
  operation({
    id: "listTransfers",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/transfers",
    summary: "List what reached the organization's addresses",
    description:
      "Newest first. `status=unmatched` is the inbox: money that counts for no invoice yet, with the invoices that it may be for.",
    access: organization("organization:read"),
    request: { query: transferQuery },
    response: { status: 200, record: TransferListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: ({ data, nextCursor }: Page<TransferView>) => ({
      data: data.map(presentTransfer),
      nextCursor,
    }),
  }),
  operation({
    id: "getTransfer",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/transfers/{transferId}",
    summary: "Get a transfer, with what was decided about it",
    access: organization("organization:read"),
    response: { status: 200, record: TransferRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
  operation({
    id: "allocateTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/allocate",
    summary: "Allocate a transfer to invoices",
    description:
      "To one invoice, or in parts to several, expired and canceled ones too. What is allocated counts from now on, and payments of the transfer that were in review are rejected. To take it back, reverse the payment.",
    access: organization("payments:decide"),
    request: { body: AllocateTransferRequest },
    response: { status: 200, record: TransferRecord },
    errors: [
      AllocationTooLarge,
      TransferAllocated,
      TransferReverted,
      TransferNotCreditable,
      InvoiceNotPayable,
      ManagedByBilling,
      TokenMismatch,
    ],
    handle: (service, call) =>
      service.allocate(
        call.context,
        call.organizationId,
        call.params.transferId,
        call.body.allocations,
      ),
    present: presentTransfer,
  }),
  operation({
    id: "ignoreTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/ignore",
    summary: "Ignore what of a transfer is not allocated",
    description: "It leaves the inbox. Allocating it, or `unignore`, takes it up again.",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferAllocated],
    handle: (service, call) =>
      service.ignore(call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
  operation({
    id: "unignoreTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/unignore",
    summary: "Take an ignored transfer up again",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferNotCreditable],
    handle: (service, call) =>
      service.unignore(call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
];
