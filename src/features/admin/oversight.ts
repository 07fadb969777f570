import type { App } from "../../app.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { namesOf } from "../organizations/store.ts";
import type { PaymentFilters } from "../payments/filters.ts";
import { getAnyPayment, listAllPayments } from "../payments/payments.ts";
import type { PaymentView } from "../payments/records.ts";
import {
  listAllDeliveries,
  type PlatformDelivery,
  type PlatformDeliveryFilters,
} from "../webhooks/delivery/store.ts";

/** An item with its organization's id and name. */
export interface Owned<T> {
  readonly of: T;
  readonly organizationId: string;
  readonly organizationName: string;
}

/** Returns a page of the payments of all organizations. */
export async function listOwnedPayments(
  app: App,
  query: PaymentFilters & PageQuery,
): Promise<Page<Owned<PaymentView>>> {
  return owned(app.db, await listAllPayments(app, query), ({ payment }) => payment.organizationId);
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
  { db }: App,
  { limit, cursor, ...filters }: PlatformDeliveryFilters & PageQuery,
): Promise<Page<Owned<PlatformDelivery>>> {
  const page = parsePage({ limit, cursor }, "admin_webhook_deliveries", { ...filters });
  const rows = await listAllDeliveries(db, filters, page);
  return owned(db, toPage(rows, page), ({ organizationId }) => organizationId);
}

async function owned<T>(
  reader: Reader,
  { data, nextCursor }: Page<T>,
  ownerOf: (item: T) => string,
): Promise<Page<Owned<T>>> {
  const names = await namesOf(reader, data.map(ownerOf));
  return {
    data: data.map((item) => {
      const organizationId = ownerOf(item);
      return { of: item, organizationId, organizationName: names.get(organizationId) ?? "" };
    }),
    nextCursor,
  };
}
