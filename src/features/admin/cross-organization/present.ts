import type { z } from "zod";
import { toIso } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import type { FailedJob } from "../../../platform/jobs/inspection.ts";
import { presentPayment, type PaymentView } from "../../payments/records.ts";
import { presentDelivery } from "../../webhooks/records.ts";
import type { PlatformDelivery } from "../../webhooks/delivery/operator-queries.ts";
import type { Owned } from "./queries.ts";
import type {
  AdminFailedQueueJobListRecord,
  AdminPaymentListRecord,
  AdminWebhookDeliveryListRecord,
} from "./records.ts";

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
  page: Page<Owned<PlatformDelivery>>,
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
