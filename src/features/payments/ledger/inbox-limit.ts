import { day, type Instant } from "../../../kernel/clock.ts";
import { transferKey, type Address } from "../../../platform/chain/client.ts";
import { findTokenByContract, type Network } from "../../../platform/chain/networks.ts";
import { integer, text, time } from "../../../platform/database/schema/table.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { givenRows } from "../../../platform/database/query/json-rows.ts";
import { matchHolds, type ChainEvidence } from "../../invoices/holds/matching.ts";
import { watchedAmong } from "../../invoices/holds/addresses.ts";
import { groupBy, type TimedLog } from "./chain-diff.ts";
import { isWorthless } from "./transfer-rules.ts";

/**
 * The maximum numbers of transfers of a day (UTC) to an address that are stored although they match no invoice: without
 * and with a live hold of an invoice, and of dust. Anybody can register the address of an exchange, which gets thousands
 * an hour. Dust has a limit of its own, so that a stranger who sends it hides no money.
 */
export const unmatchedPerDay = { idle: 100, held: 1_000, dust: 100 } as const;

/** Logs, divided by whether they become transfers. */
interface LimitedLogs {
  readonly kept: readonly TimedLog[];
  readonly leftOut: readonly TimedLog[];
}

/**
 * Divides new logs by the limits of unmatched transfers. A log that matches a hold is always kept, unless it is dust, which
 * pays nothing; and so are the first others of an address and day.
 */
export async function withinInboxLimit(
  reader: Reader,
  network: Network,
  logs: readonly TimedLog[],
  chain: ChainEvidence,
): Promise<LimitedLogs> {
  if (logs.length === 0) return { kept: logs, leftOut: [] };
  const groups = await groupsOf(reader, network, logs);
  const full = groups.filter(({ stored, isDust, own }) => {
    return stored + own.length > (isDust ? unmatchedPerDay.dust : unmatchedPerDay.idle);
  });
  if (full.length === 0) return { kept: logs, leftOut: [] };
  const asked = full.flatMap(({ own }) => own);
  const held = new Set(await watchedAmong(reader, network.id, addressesOf(asked)));
  const matches = await matchHolds(
    reader,
    network,
    asked
      .filter((log) => held.has(log.to) && !isDust(network, log))
      .map((log) => ({
        key: transferKey(log),
        token: findTokenByContract(network, log.contract)?.symbol ?? "",
        address: log.to,
        amount: log.amount,
        blockTime: log.isTimeAgreed ? log.blockTime : null,
        blockHeight: log.blockHeight,
        recordedAt: null,
      })),
    chain,
  );
  const leftOut = new Set(
    full.flatMap(({ own, stored, isDust, address }) => {
      const others = own.filter((log) => !matches.has(transferKey(log)));
      const worth = held.has(address) ? unmatchedPerDay.held : unmatchedPerDay.idle;
      return others.slice(Math.max(0, (isDust ? unmatchedPerDay.dust : worth) - stored));
    }),
  );
  return { kept: logs.filter((log) => !leftOut.has(log)), leftOut: [...leftOut] };
}

interface Group {
  readonly address: Address;
  readonly isDust: boolean;
  /** The new logs of the group, in the order of the chain. */
  readonly own: readonly TimedLog[];
  /** The number of unmatched transfers of the same address, day and worth that are stored. */
  readonly stored: number;
}

const probes = givenRows("probe", {
  address: text(),
  day: integer(),
  since: time(),
  until: time(),
});

/** Groups logs by address, day and whether they are dust. */
async function groupsOf(
  reader: Reader,
  network: Network,
  logs: readonly TimedLog[],
): Promise<Group[]> {
  const groups = groupBy(logs, (log) => groupKey(log.to, dayOf(log), isDust(network, log)));
  const days = new Map(logs.map((log) => [groupKey(log.to, dayOf(log), false), log]));
  const rows = await reader.all<{ address: Address; day: number; dust: number; stored: number }>(
    `SELECT probe.address AS "address", probe.day AS "day",
       CASE WHEN ${isDustSql} THEN 1 ELSE 0 END AS "dust", COUNT(*) AS "stored"
     FROM ${probes.from(reader.dialect, 2)} JOIN transfers
       ON transfers.network = $1 AND transfers.to_address = probe.address
       AND transfers.block_time >= probe.since AND transfers.block_time < probe.until
       AND transfers.invoice_id IS NULL AND transfers.status = 'seen'
     WHERE transfers.waiting_reason IS NULL
     GROUP BY probe.address, probe.day, CASE WHEN ${isDustSql} THEN 1 ELSE 0 END`,
    [
      network.id,
      probes.values(
        [...days.values()].map((log) => {
          const since = dayOf(log) * day;
          return { address: log.to, day: dayOf(log), since, until: since + day };
        }),
      ),
    ],
  );
  const stored = new Map(
    rows.map((row) => [groupKey(row.address, row.day, row.dust === 1), row.stored]),
  );
  return [...groups].flatMap(([key, own]) => {
    const [first] = own;
    if (first === undefined) return [];
    return [
      { address: first.to, isDust: isDust(network, first), own, stored: stored.get(key) ?? 0 },
    ];
  });
}

/** SQL condition: a transfer was dust when it was recorded, and nobody decided about it. */
const isDustSql = "transfers.disposition = 'ignored' AND transfers.verification = 'skipped'";

function isDust(network: Network, log: TimedLog): boolean {
  const token = findTokenByContract(network, log.contract);
  return token !== null && isWorthless(token, log);
}

function dayOf({ blockTime }: { readonly blockTime: Instant }): number {
  return Math.floor(blockTime / day);
}

function groupKey(address: Address, dayNumber: number, isWithoutWorth: boolean): string {
  return `${address} ${String(dayNumber)} ${String(isWithoutWorth)}`;
}

function addressesOf(logs: readonly TimedLog[]): Address[] {
  return [...new Set(logs.map(({ to }) => to))];
}
