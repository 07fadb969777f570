import type { Address } from "../../platform/chain/client.ts";
import type { Dialect, Reader } from "../../platform/database/index.ts";
import { activeAddresses, activeAmong } from "../wallets/index.ts";

/**
 * The addresses that the watcher looks for, in their order: those of active wallets, where money may come at any time,
 * and every other one with a live hold, of invoices or of wallets that were archived meanwhile. It costs by the number
 * of addresses, not of holds; `limit` bounds it for a caller that filters by itself beyond some number.
 */
export async function watchedAddresses(
  reader: Reader,
  network: string,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Address[]> {
  const [active, held] = await Promise.all([
    activeAddresses(reader, network, limit),
    heldAddresses(reader, network, limit),
  ]);
  return [...new Set([...active, ...held])].sort().slice(0, limit);
}

/** Which of these addresses the watcher looks for. */
export async function watchedAmong(
  reader: Reader,
  network: string,
  addresses: readonly Address[],
): Promise<Address[]> {
  const asked = [...new Set(addresses)];
  if (asked.length === 0) return [];
  const [active, held] = await Promise.all([
    activeAmong(reader, network, asked),
    heldAmong(reader, network, asked),
  ]);
  return [...new Set([...active, ...held])];
}

async function heldAddresses(reader: Reader, network: string, limit: number): Promise<Address[]> {
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

async function heldAmong(
  reader: Reader,
  network: string,
  addresses: readonly Address[],
): Promise<Address[]> {
  const rows = await reader.all<{ address: Address }>(
    `SELECT probe.value AS address FROM ${textRows[reader.dialect]}
     WHERE EXISTS (
       SELECT 1 FROM holds WHERE network = $1 AND address = probe.value AND released_at IS NULL
     )`,
    [network, JSON.stringify(addresses)],
  );
  return rows.map(({ address }) => address);
}

const textRows: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($2) AS probe",
  postgres: "json_array_elements_text(CAST($2 AS json)) AS probe (value)",
};
