import { claimableNetworks, claimableTerms } from "../features/invoices/holds/claimable.ts";
import { findInvoice } from "../features/invoices/store.ts";
import {
  lockTerms,
  settleInvoices,
  sweepDeadlines,
} from "../features/invoices/settlement/settlement.ts";
import { cancelInvoiceIn } from "../features/invoices/invoices.ts";
import { matchHolds } from "../features/invoices/holds/matching.ts";
import {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../features/invoices/holds/watched-addresses.ts";
import { lateReviewers } from "../features/organizations/store.ts";
import type { Settlement } from "../features/payments/ledger/invoices-port.ts";
import { makeBlockTimes } from "../features/payments/watcher/block-times.ts";
import { makeChainService } from "../features/payments/networks/service.ts";
import { makeClaimExaminer } from "../features/payments/hash-claims/examiner.ts";
import { makeMonitor } from "../features/payments/watcher/provider-monitor.ts";
import { makePaymentDecisions } from "../features/payments/decisions/decide-payment.ts";
import { makeProviderCrossCheck } from "../features/payments/watcher/provider-cross-check.ts";
import { makeRecorder } from "../features/payments/watcher/recorder.ts";
import { makeRefundLedger } from "../features/payments/refunds/refundable.ts";
import { makeScanner } from "../features/payments/watcher/readings/rescanner.ts";
import { makeTransferAllocation } from "../features/payments/inbox/allocation.ts";
import { makeTransferService } from "../features/payments/inbox/service.ts";
import { makeWalletReader } from "../features/payments/watcher/readings/wallet-reading.ts";
import { makeWatcher } from "../features/payments/watcher/watcher.ts";
import { watchWorkerName } from "../features/payments/worker.ts";
import { makeRefundExaminer } from "../features/refunds/verification/examiner.ts";
import { makeRefundRequests } from "../features/refunds/changes.ts";
import { makeRefundService } from "../features/refunds/service.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
import type { ConfiguredNetwork } from "../platform/config/config.ts";
import { perApp, type App } from "../app.ts";
import { accessTo } from "./chains.ts";

/** Returns the functions of invoices that payments call, until payments are functions too and take the app. */
export function settlementOf(app: App): Settlement {
  return {
    lockTerms,
    settleInvoices: (tx, network, locked, totals, state, at) =>
      settleInvoices(tx, app, at, network, locked, totals, state),
    cancelInvoice: (tx, organizationId, invoiceId, at, reversed) =>
      cancelInvoiceIn(tx, app, at, organizationId, invoiceId, reversed),
    sweepDeadlines: (network, state, at, finalTime) =>
      sweepDeadlines(app, at, network, state, finalTime),
  };
}

/**
 * Makes the services of payments and refunds, and the readers of the networks. `refunding` are the dependencies of
 * payers' refunds, and `nudgeExaminer` nudges the worker that examines the claims of a network.
 */
export const ledgerOf = perApp((parts) => {
  const settlement = settlementOf(parts);
  const { db, clock, ids, journal } = parts;
  const { known, ...enabled } = parts.networks;
  const common = { db, clock, ids, journal };
  const ledger = {
    ...common,
    invoices: { ...settlement, matchHolds, watchedAddresses, watchedAmong, lateReviewers },
    refunds: makeRefundRequests({ journal, networks: known }),
  };
  const refundLedger = makeRefundLedger({ ...ledger, networks: known });
  const wake = (network: string) => {
    parts.running?.wake(watchWorkerName(network));
  };
  const nudge = (network: string) => {
    parts.running?.nudge(watchWorkerName(network));
  };
  const watched = makeWatched(parts, [...enabled.enabled.values()], ledger, nudge, {
    payments: refundLedger,
    networks: known,
  });
  // The worker that takes over the claims of networks that nobody reads.
  const [examining] = watched;
  const deciding = { ...ledger, networks: known, wake, hasInvoice };
  const refunding = {
    ...common,
    networks: known,
    payments: refundLedger,
    examiners: watched.map(({ refundExaminer }) => refundExaminer),
    wake,
  };
  return {
    refunding,
    nudgeExaminer: (network: string) => {
      const isRead = watched.some((each) => each.network === network);
      nudge(isRead ? network : (examining?.network ?? network));
    },
    decisions: makePaymentDecisions(deciding),
    transfers: makeTransferAllocation({
      ...deciding,
      transfers: makeTransferService({ db, networks: known }),
    }),
    refunds: makeRefundService(refunding),
    chains: makeChainService({ db, clock, journal, ...enabled, access: watched }),
    watchers: watched.map(({ watcher }) => watcher),
    examiners: watched.flatMap(({ examiners }) => examiners),
    monitors: new Map(watched.map(({ network, monitor }) => [network, monitor])),
    pools: new Map(watched.map(({ network, pool }) => [network, pool])),
  };
});

async function hasInvoice(
  reader: Reader,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<boolean> {
  return (await findInvoice(reader, organizationId, invoiceId)) !== null;
}

type Ledger = Omit<Parameters<typeof makeScanner>[0], "network" | "pool" | "times">;

/** Makes the readers of every enabled network that has providers. */
function makeWatched(
  parts: App,
  networks: readonly ConfiguredNetwork[],
  ledger: Ledger,
  nudge: (network: string) => void,
  refunding: Pick<Parameters<typeof makeRefundExaminer>[0], "payments" | "networks">,
) {
  const { clock, logger } = parts;
  const read = networks.flatMap((network) => {
    const access = accessTo(network, parts);
    return access === null ? [] : [{ network, access }];
  });
  const examined = new Set(read.map(({ network }) => network.id));
  const claiming = { claimableTerms, claimableNetworks, nudge, examined };
  const unread = [...refunding.networks.keys()].filter((id) => !examined.has(id));
  return read.map(({ network, access }, place) => {
    const { providers, client } = access.pool;
    const times = makeBlockTimes({ clock, providers, ...access });
    const reading = { ...ledger, ...access, logger, network, client, providers, times };
    const scanner = makeScanner(reading);
    const crossCheck = makeProviderCrossCheck({
      ...reading,
      scanner,
      invoices: { watchedSince, oldestHold },
    });
    const refundExaminer = makeRefundExaminer({ ...reading, ...refunding });
    return {
      ...access,
      network: network.id,
      scanner,
      recorder: makeRecorder(reading),
      watcher: makeWatcher(reading),
      examiners: [
        makeClaimExaminer({ ...reading, ...claiming, unread: place === 0 ? unread : [] }),
        refundExaminer,
      ],
      refundExaminer,
      monitor: makeMonitor({
        ...reading,
        crossCheck,
        wallets: makeWalletReader({ ...reading, scanner }),
      }),
    };
  });
}
