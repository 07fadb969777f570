import { getInvoice } from "../../../../src/features/invoices/invoices.ts";
import {
  claimableNetworks,
  claimableTerms,
} from "../../../../src/features/invoices/holds/claimable.ts";
import { matchHolds } from "../../../../src/features/invoices/holds/matching.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import {
  watchedAddresses,
  watchedAmong,
} from "../../../../src/features/invoices/holds/watched-addresses.ts";
import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import { makeClaimExaminer } from "../../../../src/features/payments/hash-claims/examiner.ts";
import { listPayments } from "../../../../src/features/payments/payments.ts";
import { makeRefundLedger } from "../../../../src/features/payments/refunds/refundable.ts";
import { makeWatcher, type Watcher } from "../../../../src/features/payments/watcher/watcher.ts";
import { presentPayment } from "../../../../src/features/payments/present-payment.ts";
import type { PaymentFilters } from "../../../../src/features/payments/filters.ts";
import { makeWatchWorkers } from "../../../../src/features/payments/worker.ts";
import { makeRefundExaminer } from "../../../../src/features/refunds/verification/examiner.ts";
import { makeRefundRequests } from "../../../../src/features/refunds/changes.ts";
import { makeRefundService, type RefundService } from "../../../../src/features/refunds/service.ts";
import { lateReviewers } from "../../../../src/features/organizations/store.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { second } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import type { PageQuery } from "../../../../src/kernel/page.ts";
import { createJournal } from "../../../../src/platform/journal/index.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { createLeases } from "../../../../src/platform/jobs/leases.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { appOf } from "../../../support/context.ts";
import type { Shop } from "../../../support/invoice-services-fixture.ts";

/** A shop whose network is watched: the whole product above the chain client. */
export interface Market {
  readonly watcher: Watcher;
  readonly refunds: RefundService;
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
  const { db, ids, networks } = shop;
  const network = networks.get(networkId);
  if (network === undefined) throw new Error(`there is no network ${networkId}`);
  const clock = { now: () => shop.now() };
  const invoices = {
    ...shop.settlement,
    matchHolds,
    watchedAddresses,
    watchedAmong,
    lateReviewers,
  };
  const journal = createJournal({ ids, wake: () => undefined });
  const reading = {
    db,
    clock,
    ids,
    network,
    invoices,
    client,
    journal,
    refunds: makeRefundRequests({ journal, networks }),
    logger: silentLogger,
  };
  const alarms = createAlarms(reading);
  const times = makeBlockTimes({ clock, providers, alarms });
  const watcher = makeWatcher({ ...reading, providers, times });
  const examiner = makeClaimExaminer({
    ...reading,
    providers,
    claimableTerms,
    claimableNetworks,
    times,
    examined: new Set([...networks.keys()].filter((id) => !unread.includes(id))),
    unread,
    nudge: () => undefined,
  });
  const refunding = { networks, payments: makeRefundLedger({ ...reading, networks }) };
  const refundExaminer = makeRefundExaminer({ ...reading, ...refunding, providers });
  const leases = createLeases({ db, clock, ids, actor: systemActor("test") });
  const [worker] = makeWatchWorkers({
    db,
    clock,
    leases,
    invoices,
    watchers: [watcher],
    examiners: [examiner, refundExaminer],
  });
  const app = appOf({
    db,
    networks: { enabled: new Map(), known: networks, enabledIds: [...networks.keys()] },
  });

  return {
    watcher,
    refunds: makeRefundService({
      ...reading,
      ...refunding,
      examiners: [refundExaminer],
      wake: () => undefined,
    }),
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
