import * as z from "zod";
import { pageParameters } from "../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  record,
  responseRecord,
} from "../../http/declare/record.ts";
import { toIso } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import type { FailedJob } from "../../platform/jobs/queue.ts";
import { PaymentRecord, presentPayment, type PaymentView } from "../payments/records.ts";
import type { ListedDelivery } from "../webhooks/delivery/store.ts";
import { deliveryQuery, presentDelivery, WebhookDeliveryRecord } from "../webhooks/records.ts";
import type { Owned } from "./oversight.ts";
import { healths } from "./status/health.ts";

const owner = { organizationId: id("organization"), organizationName: z.string() };

export const AdminPaymentListRecord = listRecord(
  "AdminPaymentList",
  record("AdminPayment", PaymentRecord.extend(owner)),
);

export const AdminWebhookDeliveryListRecord = listRecord(
  "AdminWebhookDeliveryList",
  describeFields(
    record("AdminWebhookDelivery", WebhookDeliveryRecord.extend({ ...owner, url: z.string() })),
    {
      url: "The URL of the webhook endpoint.",
    },
  ),
);

export const AdminFailedQueueJobListRecord = listRecord(
  "AdminFailedQueueJobList",
  describeFields(
    responseRecord("AdminFailedQueueJob", {
      id: z
        .string()
        .meta({ description: "For a dead letter, the id of the delivery, which can be replayed." }),
      queue: z.string(),
      name: z.string(),
      attempts: z.int(),
      failedReason: z.string(),
      organizationId: id("organization").nullable(),
      createdAt: datetime(),
      failedAt: datetime(),
    }),
    {
      queue: "The name of the background queue.",
      name: "The kind of work.",
      attempts: "The number of attempts that failed.",
      failedReason: "The error of the last attempt.",
      organizationId: "The organization that the work is for; null if it is for no single one.",
      failedAt: "Time of the last attempt: ISO 8601, UTC.",
    },
  ),
);

const status = () => z.enum(healths);
const count = () => z.int().min(0);

export const AdminOperationsStatusRecord = responseRecord("AdminOperationsStatus", {
  checkedAt: datetime(),
  infrastructure: responseRecord("OperationsInfrastructure", {
    status: status().meta({ description: "The worst status among the checks." }),
    checks: z
      .record(z.string(), status())
      .meta({ description: "The status of each check by name." }),
    messages: z.record(z.string(), z.string()).meta({
      description: "A sentence for the operator about each check, by name.",
    }),
  }),
  providers: z.array(
    describeFields(
      responseRecord("OperationsProviderHealth", {
        provider: z.string(),
        network: z.string(),
        status: status().meta({ description: "`unknown` if no server is reading the network." }),
        message: z.string(),
      }),
      {
        provider: "The provider's name.",
        message: "A sentence for the operator about the provider.",
      },
    ),
  ),
  queues: z.array(
    describeFields(
      responseRecord("OperationsQueueDepth", {
        queue: z.string(),
        waiting: count(),
        active: count(),
        delayed: count(),
        failed: count(),
      }),
      {
        waiting: "Number of jobs that are due.",
        active: "Number of jobs that are running.",
        delayed: "Number of jobs that are scheduled for later.",
        failed: "Number of jobs that were given up.",
      },
    ),
  ),
  webhooks: describeFields(
    responseRecord("OperationsWebhookBacklog", {
      failed: count().meta({ description: "Failed deliveries that will be retried." }),
      deadLetter: count(),
      pending: count(),
      inProgress: count(),
    }),
    {
      deadLetter: "Number of deliveries that were given up.",
      pending: "Number of deliveries that wait for their first attempt.",
      inProgress: "Number of deliveries that are being sent.",
    },
  ),
  auditHead: z.string().nullable().meta({
    description:
      "The head of the audit chain in the store, as `position:hash`. Keep it elsewhere for `till audit verify --head`.",
  }),
});
describeFields(AdminOperationsStatusRecord, {
  checkedAt: "Time of the checks: ISO 8601, UTC.",
  infrastructure: "The results of the checks.",
  providers: "The health of each network's providers.",
  queues: "The pending work of each background queue.",
  webhooks: "The pending webhook deliveries of all organizations.",
});

/** Delivery filters of the command line, which needs an organization for those of a single organization's list. */
export const DeliveryCommandQuery = z.strictObject({
  ...deliveryQuery,
  organizationId: id("organization").optional(),
});
export const platformDeliveryQuery = {
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: deliveryQuery.status,
};

export function presentPlatformPayments(
  page: Page<Owned<PaymentView>>,
): z.input<typeof AdminPaymentListRecord> {
  return mapPage(page, presentPlatformPayment);
}

/** Presents a payment with its organization. */
export function presentPlatformPayment({ of, ...owner }: Owned<PaymentView>) {
  return { ...presentPayment(of), ...owner };
}

export function presentPlatformDeliveries(
  page: Page<Owned<ListedDelivery>>,
): z.input<typeof AdminWebhookDeliveryListRecord> {
  return mapPage(page, ({ of, ...owner }) => ({
    ...presentDelivery(of),
    ...owner,
    url: of.url,
  }));
}

export function presentFailedJobs(
  page: Page<FailedJob>,
): z.input<typeof AdminFailedQueueJobListRecord> {
  return mapPage(page, presentFailedJob);
}

export function presentFailedJob(job: FailedJob) {
  return {
    ...job,
    organizationId: job.organizationId as Id<"organization"> | null,
    createdAt: toIso(job.createdAt),
    failedAt: toIso(job.failedAt),
  };
}
