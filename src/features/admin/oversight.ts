import type { App } from "../../app.ts";
import type { Id } from "../../kernel/id.ts";
import type { Page, PageQuery } from "../../kernel/page.ts";
import { namesOf } from "../organizations/store.ts";
import type { PaymentFilters } from "../payments/filters.ts";
import { getAnyPayment, listPayments } from "../payments/payments.ts";
import type { PaymentView } from "../payments/records.ts";
import { listWebhookDeliveries } from "../webhooks/deliveries.ts";
import type { DeliveryFilters, ListedDelivery } from "../webhooks/delivery/store.ts";

/** An item with its organization's id and name. */
export interface Owned<T> {
  readonly of: T;
  readonly organizationId: string;
  readonly organizationName: string;
}

/** Returns a page of the payments of all organizations. */
export async function listOwnedPayments(
  app: App,
  { organizationId, ...query }: PaymentFilters & PageQuery,
): Promise<Page<Owned<PaymentView>>> {
  const page = await listPayments(app, organizationId ?? "all", query);
  return owned(app, page, ({ payment }) => payment.organizationId);
}

/** Returns a payment of any organization. */
export async function getOwnedPayment(
  app: App,
  paymentId: Id<"payment">,
): Promise<Owned<PaymentView>> {
  const of = await getAnyPayment(app, paymentId);
  const { organizationId } = of.payment;
  const names = await namesOf(app.db, [organizationId]);
  return { of, organizationId, organizationName: names.get(organizationId) ?? "" };
}

/** Returns a page of the webhook deliveries of all organizations. */
export async function listOwnedDeliveries(
  app: App,
  { organizationId, ...query }: DeliveryFilters & PageQuery,
): Promise<Page<Owned<ListedDelivery>>> {
  const page = await listWebhookDeliveries(app, organizationId ?? "all", query);
  return owned(app, page, (delivery) => delivery.organizationId);
}

async function owned<T>(
  { db }: App,
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
