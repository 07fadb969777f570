import {
  claimableNetworks,
  claimableTerms,
  findInvoice,
  type makeSettlement,
  matchHolds,
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../../features/invoices/index.ts";
import { lateReviewers } from "../../features/organizations/index.ts";
import {
  makeBlockTimes,
  makeChainService,
  makeClaimExaminer,
  makeMonitor,
  makePaymentDecisions,
  makePaymentService,
  makeProviderCrossCheck,
  makeRecorder,
  makeRefundLedger,
  makeScanner,
  makeTransferAllocation,
  makeTransferService,
  makeWalletReader,
  makeWatcher,
  watchWorkerName,
} from "../../features/payments/index.ts";
import {
  makeRefundExaminer,
  makeRefundRequests,
  makeRefundService,
} from "../../features/refunds/index.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Networks } from "../networks.ts";
import { accessTo } from "./chains.ts";

/**
 * Makes the services of payments and refunds, and the readers of the networks. `refunding` are the dependencies of
 * payers' refunds, and `nudgeExaminer` nudges the worker that examines the claims of a network.
 */
export function makeLedger(
  parts: Dependencies,
  journal: Journal,
  { known, ...enabled }: Networks,
  settlement: ReturnType<typeof makeSettlement>,
) {
  const { db, clock, ids } = parts;
  const common = { db, clock, ids, journal };
  const ledger = {
    ...common,
    invoices: { ...settlement, matchHolds, watchedAddresses, watchedAmong, lateReviewers },
    refunds: makeRefundRequests({ journal, networks: known }),
  };
  const refundLedger = makeRefundLedger({ ...ledger, networks: known });
  const wake = (network: string) => {
    parts.wakeUps.wake(watchWorkerName(network));
  };
  const nudge = (network: string) => {
    parts.wakeUps.nudge(watchWorkerName(network));
  };
  const watched = makeWatched(parts, ledger, nudge, { payments: refundLedger, networks: known });
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
    payments: makePaymentService({ db, networks: known }),
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
}

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
  parts: Dependencies,
  ledger: Ledger,
  nudge: (network: string) => void,
  refunding: Pick<Parameters<typeof makeRefundExaminer>[0], "payments" | "networks">,
) {
  const { config, clock, logger } = parts;
  const read = config.networks.flatMap((network) => {
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
