import type { Instant } from "../../../kernel/clock.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { givenTexts } from "../../../platform/database/query/json-rows.ts";

/**
 * Returns the addresses that each scan reads, in ascending order: those with a live hold. Wallets without one are read once
 * a day. The cost grows with the number of addresses, not of holds. `limit` is for a caller that filters transfers itself
 * beyond some number.
 */
export async function watchedAddresses(
  reader: Reader,
  network: string,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Address[]> {
  const nextAfter = (bound: string) =>
    `SELECT min(address) FROM holds WHERE network = $1 AND released_at IS NULL${bound}`;
  const rows = await reader.all<{ address: Address }>(
    `WITH RECURSIVE watched (address) AS (
       ${nextAfter("")}
       UNION ALL
       SELECT (${nextAfter(" AND address > watched.address")}) FROM watched WHERE watched.address IS NOT NULL
     )
     SELECT address FROM watched WHERE address IS NOT NULL LIMIT $2`,
    [network, limit],
  );
  return rows.map(({ address }) => address);
}

/** Returns those of these addresses that are watched, each once. */
export async function watchedAmong(
  reader: Reader,
  network: string,
  addresses: readonly Address[],
): Promise<Address[]> {
  const asked = [...new Set(addresses)];
  if (asked.length === 0) return [];
  const rows = await reader.all<{ address: Address }>(
    `SELECT probe.value AS address FROM ${givenTexts(reader.dialect, 2, "probe")}
     WHERE EXISTS (
       SELECT 1 FROM holds WHERE network = $1 AND address = probe.value AND released_at IS NULL
     )`,
    [network, JSON.stringify(asked)],
  );
  return rows.map(({ address }) => address);
}

/** Since when an address has been watched. */
export interface WatchedSince {
  /** The start of its first live hold. */
  readonly startsAt: Instant;
  /** The height of the lowest mark of its live holds: blocks above it were read afterwards. Null without any mark. */
  readonly markHeight: number | null;
}

/** Returns since when each of these addresses has been watched; unwatched ones are left out. */
export async function watchedSince(
  reader: Reader,
  network: string,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, WatchedSince>> {
  const asked = [...new Set(addresses)];
  if (asked.length === 0) return new Map();
  const rows = await reader.all<WatchedSince & { address: Address }>(
    `SELECT probe.value AS "address", min(holds.starts_at) AS "startsAt", min(holds.mark_height) AS "markHeight"
     FROM ${givenTexts(reader.dialect, 2, "probe")} CROSS JOIN holds
     WHERE holds.network = $1 AND holds.address = probe.value AND holds.released_at IS NULL
     GROUP BY probe.value`,
    [network, JSON.stringify(asked)],
  );
  return new Map(rows.map(({ address, ...since }) => [address, since]));
}

/** Returns the start of a network's oldest live hold; null if no hold is live. */
export async function oldestHold(reader: Reader, network: string): Promise<Instant | null> {
  const [row] = await reader.all<{ oldest: Instant | null }>(
    `SELECT min(starts_at) AS "oldest" FROM holds WHERE network = $1 AND released_at IS NULL`,
    [network],
  );
  return row?.oldest ?? null;
}
