import { getInvoice } from "../../../../src/features/invoices/invoices.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import { makeClaimExaminer } from "../../../../src/features/payments/hash-claims/examiner.ts";
import { listPayments } from "../../../../src/features/payments/payments.ts";
import { makeWatcher, type Watcher } from "../../../../src/features/payments/watcher/watcher.ts";
import { presentPayment } from "../../../../src/features/payments/records.ts";
import type { PaymentFilters } from "../../../../src/features/payments/filters.ts";
import { makeWatchWorkers } from "../../../../src/features/payments/worker.ts";
import { second } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import type { PageQuery } from "../../../../src/kernel/page.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import type { Shop } from "../../../support/invoice-services-fixture.ts";
import { ledgerOf } from "../shop-ledger.ts";

/** A shop whose network is watched: the whole product above the chain client. */
export interface Market {
  readonly watcher: Watcher;
  /** Runs the network's worker until no work is due. */
  look(): Promise<void>;
  read(invoice: InvoiceView): Promise<ReturnType<typeof presentInvoice>>;
  payments(
    query?: PaymentFilters & PageQuery,
    organizationId?: Id<"organization">,
  ): Promise<{ data: ReturnType<typeof presentPayment>[]; nextCursor: string | null }>;
  /** Returns the types of the events of invoices and payments, in order. */
  events(): Promise<string[]>;
}

const runsMax = 50;

export function openMarket(
  shop: Shop,
  networkId: string,
  client: ChainClient,
  providers: readonly ChainClient[] = [client],
  unread: readonly string[] = [],
): Market {
  const { networks } = shop;
  const network = networks.get(networkId);
  if (network === undefined) throw new Error(`there is no network ${networkId}`);
  const reading = { ...ledgerOf(shop), network, client, providers };
  const { app, db, clock } = reading;
  const alarms = createAlarms(reading);
  const times = makeBlockTimes({ clock, providers, alarms });
  const watcher = makeWatcher({ ...reading, times });
  const claims = makeClaimExaminer({
    ...reading,
    times,
    examined: new Set([...networks.keys()].filter((id) => !unread.includes(id))),
    unread,
  });
  const [worker] = makeWatchWorkers(app, [{ network, providers, watcher, claims }]);

  return {
    watcher,
    async look() {
      for (let runs = 0; runs < runsMax; runs += 1) {
        shop.advance(2 * second);
        if ((await worker?.run(new AbortController().signal)) !== true) return;
      }
      throw new Error("the worker never comes to an end");
    },
    read: async ({ organizationId, id }) =>
      presentInvoice(await getInvoice(shop.app, organizationId, id)),
    async payments(query = {}, organizationId = shop.organizationId) {
      const page = await listPayments(app, organizationId, query);
      return { data: page.data.map(presentPayment), nextCursor: page.nextCursor };
    },
    async events() {
      const rows = await db.all<{ type: string }>("SELECT type FROM events ORDER BY id");
      return rows.map(({ type }) => type).filter((type) => /^(invoice|payment)/.test(type));
    },
  };
}
