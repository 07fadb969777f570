import { organization } from "../../../api/declare/access.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import type { Page } from "../../../kernel/page.ts";
import { ManagedByBilling } from "../../invoices/errors.ts";
import { NetworkNotEnabled } from "../../wallets/errors.ts";
import type { TransferAllocation } from "./allocation.ts";
import {
  AllocationTooLarge,
  InvoiceNotPayable,
  TokenMismatch,
  TransferAllocated,
  TransferNotCreditable,
  TransferReverted,
} from "../errors.ts";
import { presentTransfer, type TransferView } from "./present-transfer.ts";
import {
  AllocateTransferRequest,
  TransferListRecord,
  transferQuery,
  TransferRecord,
} from "./records.ts";

const operation = operationsOf<TransferAllocation>();

export const transferOperations = [
  operation({
    id: "listTransfers",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/transfers",
    summary: "List transfers",
    description:
      "The transfers to the organization's addresses, newest first. `status=unmatched` lists the inbox: transfers that are not completely allocated, with the invoices that they are probably for.",
    access: organization("transfers:read"),
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
    summary: "Get a transfer with its decisions",
    access: organization("transfers:read"),
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
      "Allocates a transfer to one invoice, or in parts to several; expired and canceled invoices are allowed. The allocated amounts count immediately, and payments of the transfer that were in review are rejected. To undo an allocation, reverse the payment.",
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
      NetworkNotEnabled,
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
    summary: "Ignore the unallocated part of a transfer",
    description:
      "The transfer leaves the inbox. It can still be allocated, and `unignore` returns it to the inbox.",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferAllocated, NetworkNotEnabled],
    handle: (service, call) =>
      service.ignore(call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
  operation({
    id: "unignoreTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/unignore",
    summary: "Return an ignored transfer to the inbox",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferNotCreditable, NetworkNotEnabled],
    handle: (service, call) =>
      service.unignore(call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
];
