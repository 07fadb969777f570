import type { App } from "../../../app.ts";
import { invalidField, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePage, toPage, toPageBy, type Page, type PageQuery } from "../../../kernel/page.ts";
import {
  failedJobs,
  firstFailure,
  isQueue,
  type FailedJob,
  type FailurePlace,
} from "../../../platform/jobs/inspection.ts";
import { queues } from "../../../platform/jobs/queue.ts";
import { namesOf } from "../../organizations/store.ts";
import { getAnyPayment, listAllPayments } from "../../payments/payments.ts";
import type { PaymentFilters } from "../../payments/filters.ts";
import type { PaymentView } from "../../payments/records.ts";
import {
  deadLetters,
  listAllDeliveries,
  type PlatformDelivery,
  type PlatformDeliveryFilters,
} from "../../webhooks/delivery/operator-queries.ts";

/** An item with its organization's id and name. */
export interface Owned<T> {
  readonly of: T;
  readonly organizationId: string;
  readonly organizationName: string;
}

/** Lists across organizations, for platform admins. */
export interface OversightService {
  listPayments(query: PaymentFilters & PageQuery): Promise<Page<Owned<PaymentView>>>;
  /** Returns a payment of any organization. */
  findPayment(paymentId: Id<"payment">): Promise<Owned<PaymentView>>;
  listDeliveries(
    query: PlatformDeliveryFilters & PageQuery,
  ): Promise<Page<Owned<PlatformDelivery>>>;
  /** Returns the failed jobs of a queue, or of all, latest failure first; 404 if there is no such queue. */
  listFailedJobs(queue: string | null, query: PageQuery): Promise<Page<FailedJob>>;
}

export function makeOversight(app: App): OversightService {
  const { db } = app;

  async function owned<T>(
    { data, nextCursor }: Page<T>,
    ownerOf: (item: T) => string,
  ): Promise<Page<Owned<T>>> {
    const names = await namesOf(db, data.map(ownerOf));
    return {
      data: data.map((item) => {
        const organizationId = ownerOf(item);
        return { of: item, organizationId, organizationName: names.get(organizationId) ?? "" };
      }),
      nextCursor,
    };
  }

  return {
    async listPayments(query) {
      return owned(await listAllPayments(app, query), ({ payment }) => payment.organizationId);
    },

    async findPayment(paymentId) {
      const of = await getAnyPayment(app, paymentId);
      const { organizationId } = of.payment;
      const names = await namesOf(db, [organizationId]);
      return { of, organizationId, organizationName: names.get(organizationId) ?? "" };
    },

    async listDeliveries({ limit, cursor, ...filters }) {
      const page = parsePage({ limit, cursor }, "admin_webhook_deliveries", { ...filters });
      const rows = await listAllDeliveries(db, filters, page);
      return owned(toPage(rows, page), ({ organizationId }) => organizationId);
    },

    async listFailedJobs(queue, query) {
      if (queue !== null && !isQueue(queue)) throw notFound();
      const page = parsePage(query, "admin_failed_jobs", { queue });
      const after = page.after === null ? firstFailure : placeOf(page.after);
      const named = queue === null ? queues : [queue];
      const found = await Promise.all([
        ...named.map((each) => failedJobs(db, each, after, page.fetch)),
        named.includes("webhooks") ? deadLetters(db, after, page.fetch) : [],
      ]);
      return toPageBy(found.flat().sort(latestFirst), page, positionOf);
    },
  };
}

function latestFirst(one: FailedJob, other: FailedJob): number {
  return other.failedAt - one.failedAt || (one.id < other.id ? 1 : -1);
}

function positionOf({ failedAt, id }: FailedJob): string {
  return `${String(failedAt)}.${id}`;
}

function placeOf(position: string): FailurePlace {
  const [, failedAt = "", id = ""] = /^(\d{1,15})\.(\w+)$/.exec(position) ?? [];
  if (id === "") {
    const message = "must be the nextCursor of this list; omit it to start over";
    throw invalidField({ parameter: "cursor" }, "invalid_cursor", message);
  }
  return { failedAt: Number(failedAt), id };
}
