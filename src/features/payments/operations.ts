import { z } from "zod";
import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { id } from "../../api/record.ts";
import type { Page } from "../../kernel/page.ts";
import { presentPayment, type PaymentView } from "./present.ts";
import { PaymentListRecord } from "./records.ts";
import type { PaymentService } from "./service.ts";
import { paymentStatuses } from "./status.ts";

const operation = operationsOf<PaymentService>();

export const paymentOperations = [
  operation({
    id: "listPayments",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/payments",
    summary: "List payments",
    description:
      "Transfers on the chains as they were allocated to invoices. Only those that are confirming and confirmed count as paid.",
    access: organization("organization:read"),
    request: {
      query: {
        limit: z.string().optional(),
        cursor: z.string().optional(),
        invoiceId: id("invoice").optional(),
        status: z.enum(paymentStatuses).optional(),
      },
    },
    response: { status: 200, record: PaymentListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: ({ data, nextCursor }: Page<PaymentView>) => ({
      data: data.map(presentPayment),
      nextCursor,
    }),
  }),
];
