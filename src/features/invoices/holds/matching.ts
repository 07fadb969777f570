import { second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { divideRounded } from "../../../kernel/money/ratio.ts";
import { maxTolerancePercent } from "../../../kernel/money/percent.ts";
import type { Address } from "../../../platform/chain/client.ts";
import {
  decodeAmount,
  encodeAmount,
  type Dialect,
  type Reader,
  type Tx,
} from "../../../platform/database/index.ts";
import { lateWindowOf } from "../../organizations/index.ts";
import { anyToken } from "./holds.ts";
import type { InvoiceRow } from "../store.ts";

/**
 * The most by which a payment's block time may be before the start of its hold, because the clocks of chains and
 * servers differ.
 */
const clockSlackMs = 60 * second;

/** A transfer that is not matched yet. */
export interface MatchCandidate {
  /** Identifies the candidate in the result. */
  readonly key: string;
  /** The token's symbol. */
  readonly token: string;
  readonly address: Address;
  readonly amount: bigint;
  /** Null while it is uncertain: then a hold matches if it is live now, whatever its start and end. */
  readonly blockTime: Instant | null;
}

export interface HoldMatch {
  readonly invoiceId: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly rule: "exclusive_address" | "exact_amount" | "within_tolerance";
  /**
   * True if an earlier invoice held the same amount and its late window has not ended: the transfer may be for either.
   */
  readonly isAmbiguous?: true;
}

/**
 * Matches transfers with live holds: by exclusive address, with any amount; otherwise by exact amount; otherwise by an
 * amount within the tolerance of exactly one invoice, unless another unpaid invoice is at least as near to it
 * (docs/decisions/0024). Transfers without a match are left out; being the only open invoice is never a reason for a
 * match. The number of statements is bounded for any batch.
 */
export async function matchHolds(
  tx: Tx,
  network: string,
  candidates: readonly MatchCandidate[],
): Promise<Map<string, HoldMatch>> {
  const matches = new Map<string, HoldMatch>();
  if (candidates.length === 0) return matches;
  for (const held of await exactHolds(tx, network, candidates)) {
    const rule = held.kind === "exclusive" ? "exclusive_address" : "exact_amount";
    if (rule === "exact_amount" && matches.has(held.key)) continue;
    const { invoiceId, organizationId } = held;
    const match = { invoiceId, organizationId, rule } as const;
    matches.set(held.key, held.former === null ? match : { ...match, isAmbiguous: true });
  }
  const rest = candidates.filter(({ key }) => !matches.has(key));
  const tolerant = await tolerantHolds(tx, network, rest);
  const rivaled = await rivaledKeys(tx, network, rest, tolerant);
  for (const { key, invoiceId, organizationId } of tolerant) {
    if (rivaled.has(key)) continue;
    matches.set(key, { invoiceId, organizationId, rule: "within_tolerance" });
  }
  return matches;
}

interface HeldRow {
  readonly key: string;
  readonly invoiceId: Id<"invoice">;
  readonly organizationId: Id<"organization">;
}

/**
 * A batch of JSON arrays as rows. SQLite keeps the order of a CROSS JOIN, which means few probes into a large index.
 */
const probes: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($2) AS probe CROSS JOIN holds",
  postgres: "json_array_elements(CAST($2 AS json)) AS probe (value) CROSS JOIN holds",
};

/**
 * SQL condition: the hold is live, and its period includes the time at this index of the probe, unless that is null.
 */
function isLiveAt(place: number): string {
  const blockTime = `CAST(probe.value ->> ${String(place)} AS bigint)`;
  return `holds.released_at IS NULL AND (${blockTime} IS NULL
    OR (holds.starts_at - ${String(clockSlackMs)} <= ${blockTime} AND holds.ends_at >= ${blockTime}))`;
}

async function exactHolds(
  tx: Tx,
  network: string,
  candidates: readonly MatchCandidate[],
): Promise<
  (HeldRow & { readonly kind: "exclusive" | "amount"; readonly former: string | null })[]
> {
  const none = encodeAmount(0n);
  const asked = candidates.flatMap(({ key, address, token, amount, blockTime }) => [
    [key, address, anyToken, none, blockTime],
    [key, address, token, encodeAmount(amount), blockTime],
  ]);
  return tx.all(
    `SELECT probe.value ->> 0 AS "key", holds.kind AS kind, holds.invoice_id AS "invoiceId",
       holds.organization_id AS "organizationId", (
         SELECT former.id FROM holds AS former
         WHERE former.network = holds.network AND former.address = holds.address
           AND former.token = holds.token AND former.amount = holds.amount
           AND former.recycled_at IS NOT NULL AND former.ends_at >= CAST(probe.value ->> 4 AS bigint)
         LIMIT 1
       ) AS former
     FROM ${probes[tx.dialect]}
     WHERE holds.network = $1 AND holds.address = probe.value ->> 1 AND holds.token = probe.value ->> 2
       AND holds.amount = probe.value ->> 3 AND ${isLiveAt(4)}`,
    [network, JSON.stringify(asked)],
  );
}

interface TolerantRow extends HeldRow {
  /** The lowest amount among the invoice's holds above the transfer's amount, in the store's encoding. */
  readonly amount: string;
}

async function tolerantHolds(
  tx: Tx,
  network: string,
  candidates: readonly MatchCandidate[],
): Promise<TolerantRow[]> {
  if (candidates.length === 0) return [];
  const asked = candidates.map(({ key, address, token, amount, blockTime }) => {
    // No hold above this amount has enough tolerance.
    const most = divideRounded(amount * 100n, BigInt(100 - maxTolerancePercent), "up");
    return [key, address, token, encodeAmount(amount), encodeAmount(most), blockTime];
  });
  return tx.all(
    `SELECT probe.value ->> 0 AS "key", min(holds.invoice_id) AS "invoiceId",
       min(holds.organization_id) AS "organizationId", min(holds.amount) AS amount
     FROM ${probes[tx.dialect]}
     WHERE holds.network = $1 AND holds.address = probe.value ->> 1 AND holds.token = probe.value ->> 2
       AND holds.amount > probe.value ->> 3 AND holds.amount <= probe.value ->> 4
       AND holds.least_amount < holds.amount AND holds.least_amount <= probe.value ->> 3 AND ${isLiveAt(5)}
     GROUP BY probe.value ->> 0 HAVING count(DISTINCT holds.invoice_id) = 1`,
    [network, JSON.stringify(asked)],
  );
}

const probeRows: Readonly<Record<Dialect, string>> = {
  sqlite: "json_each($2) AS probe",
  postgres: "json_array_elements(CAST($2 AS json)) AS probe (value)",
};

/** Returns the transfers to whose amount another unpaid invoice is at least as near as the tolerant one. */
async function rivaledKeys(
  tx: Tx,
  network: string,
  candidates: readonly MatchCandidate[],
  tolerant: readonly TolerantRow[],
): Promise<ReadonlySet<string>> {
  if (tolerant.length === 0) return new Set();
  const nearest = new Map(tolerant.map((row) => [row.key, row]));
  const asked = candidates.flatMap(({ key, address, token, amount, blockTime }) => {
    const row = nearest.get(key);
    if (row === undefined) return [];
    const most = decodeAmount(row.amount);
    const distance = most - amount;
    const least = distance < amount ? amount - distance : 0n;
    return [
      [key, address, token, encodeAmount(least), encodeAmount(most), blockTime, row.invoiceId],
    ];
  });
  const rows = await tx.all<{ key: string }>(
    `SELECT probe.value ->> 0 AS "key" FROM ${probeRows[tx.dialect]} WHERE EXISTS (
       SELECT 1 FROM holds JOIN invoices ON invoices.id = holds.invoice_id
       WHERE holds.network = $1 AND holds.address = probe.value ->> 1 AND holds.token = probe.value ->> 2
         AND holds.amount >= probe.value ->> 3 AND holds.amount <= probe.value ->> 4
         AND holds.invoice_id <> probe.value ->> 6 AND ${isLiveAt(5)}
         AND invoices.status NOT IN ('confirming', 'paid')
     )`,
    [network, JSON.stringify(asked)],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Shortens the holds of a canceled invoice to the late window after its cancellation. */
export async function endHolds(
  tx: Tx,
  { id, organizationId }: Pick<InvoiceRow, "id" | "organizationId">,
  canceledAt: Instant,
): Promise<void> {
  await tx.run(
    "UPDATE holds SET ends_at = $2 WHERE invoice_id = $1 AND released_at IS NULL AND ends_at > $2",
    [id, canceledAt + (await lateWindowOf(tx, organizationId))],
  );
}

const releasedMax = 500;

/** Releases holds that had ended when the newest final block was mined, in a bounded batch. Returns their number. */
export async function releaseHolds(
  tx: Tx,
  network: string,
  finalTime: Instant,
  at: Instant,
): Promise<number> {
  return tx.run(
    `UPDATE holds SET released_at = $3 WHERE id IN (
       SELECT id FROM holds WHERE network = $1 AND released_at IS NULL AND ends_at < $2
       ORDER BY ends_at LIMIT ${String(releasedMax)}
     )`,
    [network, finalTime, at],
  );
}

/** True if a hold that is not released ended before this time. */
export async function hasEndedHolds(
  reader: Reader,
  network: string,
  by: Instant,
): Promise<boolean> {
  const found = await reader.all(
    "SELECT 1 AS found FROM holds WHERE network = $1 AND released_at IS NULL AND ends_at < $2 LIMIT 1",
    [network, by],
  );
  return found.length > 0;
}
