import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { SubscriptionView } from "../present.ts";
import { unpaidOf } from "../store.ts";
import { subscriptions, type SubscriptionRow } from "../table.ts";

interface Deps {
  readonly checkoutUrl: (checkoutId: string) => string;
}

/** Returns the last subscription of each organization, canceled ones included. */
export async function subscriptionsOf(
  { checkoutUrl }: Deps,
  reader: Reader,
  organizationIds: readonly Id<"organization">[],
): Promise<ReadonlyMap<Id<"organization">, SubscriptionView>> {
  if (organizationIds.length === 0) return new Map();
  const rows = await reader.find(
    subscriptions,
    `WHERE organization_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify(organizationIds)],
  );
  const latest = new Map(rows.map((row) => [row.organizationId, row]));
  const shown = [...latest.values()];
  const owed = await unpaidOf(
    reader,
    shown.map(({ id }) => id),
  );
  return new Map(
    shown.map((subscription) => {
      const openInvoice = owed.find((one) => one.subscriptionId === subscription.id) ?? null;
      return [subscription.organizationId, { subscription, openInvoice, checkoutUrl }];
    }),
  );
}

/** Returns a subscription with its unpaid invoice. */
export async function viewOf(
  { checkoutUrl }: Deps,
  reader: Reader,
  subscription: SubscriptionRow,
): Promise<SubscriptionView> {
  const [openInvoice = null] = await unpaidOf(reader, [subscription.id]);
  return { subscription, openInvoice, checkoutUrl };
}
