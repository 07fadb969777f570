import { second, toIso, toIsoOrNull } from "../../../kernel/clock.ts";
import type { Alarm } from "../../../platform/chain/state/alarms.ts";
import type { ProviderHealth } from "../../../platform/chain/state/provider-health.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { unknownProvider } from "../../../platform/chain/state/readings.ts";
import { formatMoney, tokenAsset } from "../../../kernel/money/money.ts";
import { findTokenByContract } from "../../../platform/chain/networks.ts";
import type { GapRow } from "../../../platform/chain/state/reading-ranges.ts";
import type { AskedGap, AuditReport, NetworkStatus } from "./chain.ts";
import type { HeldSubject } from "./held.ts";
import type { ScanReport } from "../watcher/readings/rescanner.ts";
import type { BlockRange, TimedLog } from "../ledger/chain-diff.ts";

/** The status of networks as `till chain status --json` prints it. */
export function presentStatus(statuses: readonly NetworkStatus[]) {
  return { data: statuses.map(presentNetwork), nextCursor: null };
}

export type PresentedNetwork = ReturnType<typeof presentNetwork>;

function presentNetwork(status: NetworkStatus) {
  const { network, state, headHeight, lagMs } = status;
  const hash = (text: string) => network.kind.formatBlockHash(text);
  return {
    network: network.id,
    chainId: network.chainId,
    isWatched: status.isWatched,
    tip:
      state === null
        ? null
        : {
            blockNumber: state.tipHeight,
            blockHash: hash(state.tipHash),
            blockTime: toIso(state.tipTime),
          },
    finalizedBlockNumber: state?.cursorHeight ?? null,
    headBlockNumber: headHeight,
    lagBlocks:
      state === null || headHeight === null ? null : Math.max(0, headHeight - state.tipHeight),
    lagSeconds: lagMs === null ? null : Math.round(lagMs / second),
    scannedAt: toIsoOrNull(state?.scannedAt ?? null),
    disabledTokens: state?.disabledTokens ?? [],
    providersCheckedAt: toIsoOrNull(status.providersAt),
    providers: status.providers.map(presentProvider),
    alarms: status.alarms.map(presentAlarm),
  };
}

export function presentProvider(one: ProviderHealth) {
  const { lastError } = one;
  return {
    provider: one.provider,
    condition: one.condition,
    isInUse: one.isInUse,
    latencyMs: one.latencyMs,
    tipBlockNumber: one.tipHeight,
    lagBlocks: one.lagBlocks,
    errorPercent: one.errorPercent,
    dropped: one.dropped ?? {},
    requestsToday: one.requestsToday,
    requestsPerDay: one.requestsPerDay,
    answeredAt: toIsoOrNull(one.answeredAt),
    logsProvenAt: toIsoOrNull(one.provenAt ?? null),
    limits: (one.limits ?? []).map(({ part, most, refusedSize, triedAt, words }) => ({
      part,
      most,
      refusedSize,
      triedAt: toIso(triedAt),
      words,
    })),
    retryAt: toIsoOrNull(one.retryAt),
    checkedAgainAt: toIsoOrNull(one.againAt ?? null),
    lastError:
      lastError === null
        ? null
        : { kind: lastError.kind, message: lastError.message, at: toIso(lastError.at) },
  };
}

function presentAlarm({ kind, subject, message, raisedAt }: Alarm) {
  return { kind, subject, message, raisedAt: toIso(raisedAt) };
}

export function presentAcknowledged({
  network,
  ended,
}: {
  readonly network: Network;
  readonly ended: readonly Alarm[];
}) {
  return { network: network.id, acknowledged: ended.map(presentAlarm) };
}

export function presentScan({
  network,
  from,
  to,
  found,
  fresh,
  unreadable,
}: ScanReport & { network: Network }) {
  return {
    network: network.id,
    fromBlockNumber: from,
    toBlockNumber: to,
    transfersFound: found,
    transfersNew: fresh.length,
    logsUnreadable: unreadable.length,
    newTransfers: fresh.map((log) => presentLog(network, log)),
  };
}

function presentLog(network: Network, log: TimedLog) {
  const token = findTokenByContract(network, log.contract);
  return {
    transactionHash: network.kind.formatTransactionHash(log.transactionHash),
    logIndex: log.logIndex,
    blockNumber: log.blockHeight,
    toAddress: network.kind.formatAddress(log.to),
    tokenSymbol: token?.symbol ?? "",
    amount:
      token === null
        ? log.amount.toString()
        : formatMoney({ units: log.amount, asset: tokenAsset(token.symbol, token.decimals) }),
  };
}

function blocksIn(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** A range that providers refuse to read. */
function presentGap(gap: GapRow) {
  return {
    fromBlockNumber: gap.fromHeight,
    toBlockNumber: gap.toHeight,
    refusals: gap.refusals.map(({ provider, reason, since, at }) => ({
      provider,
      reason,
      since: toIso(since),
      lastAt: toIso(at),
    })),
    acceptedAt: toIsoOrNull(gap.acceptedAt),
    acceptedReason: gap.acceptedReason,
  };
}

export function presentAcceptedGap({ network, from, to, parts }: AskedGap) {
  return {
    network: network.id,
    fromBlockNumber: from,
    toBlockNumber: to,
    blocks: to - from + 1,
    refused: parts.map(presentGap),
  };
}

export function presentHeld({ id, network, transfer, payment, heldSince, opinions }: HeldSubject) {
  return {
    id,
    network: network.id,
    status: payment?.status ?? transfer.verification,
    transactionHash: network.kind.formatTransactionHash(transfer.transactionHash),
    blockNumber: transfer.blockHeight,
    heldSince: toIso(heldSince),
    opinions: opinions.map(({ provider, opinion }) => ({
      provider,
      opinion: typeof opinion === "object" ? opinion.disagrees : opinion,
    })),
  };
}

export function presentAudit(report: AuditReport) {
  const { network, from, to, gaps, seams, ranges, readings } = report;
  const hash = (text: string) => network.kind.formatBlockHash(text);
  const unread = blocksIn(gaps);
  return {
    network: network.id,
    fromBlockNumber: from,
    toBlockNumber: to,
    finalizedBlockNumber: report.cursorHeight,
    witnessedBlockNumber: report.witnessedTo,
    isComplete: gaps.length === 0 && seams.length === 0,
    blocksUnread: unread,
    blocksReadOnce: blocksIn(readings.filter(({ timesRead }) => timesRead < 2)),
    readings: readings.map((one) => ({
      fromBlockNumber: one.from,
      toBlockNumber: one.to,
      timesRead: one.timesRead,
      providers: one.providers.map((provider) =>
        provider === unknownProvider ? "unknown" : provider,
      ),
      readAt: toIso(one.readAt),
    })),
    gaps: gaps.map((gap) => ({ fromBlockNumber: gap.from, toBlockNumber: gap.to })),
    refused: report.refused.map(presentGap),
    seams: seams.map(({ height }) => ({ blockNumber: height })),
    ranges: ranges.map((row) => ({
      fromBlockNumber: row.fromHeight,
      parentHash: row.parentHash === null ? null : hash(row.parentHash),
      toBlockNumber: row.toHeight,
      toBlockHash: hash(row.toHash),
      readAt: toIso(row.readAt),
    })),
  };
}
