import { second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { divideRounded, maxTolerancePercent } from "../../../kernel/money/ratio.ts";
import type { Address } from "../../../platform/chain/client.ts";
import {
  amount,
  decodeAmount,
  encodeAmount,
  integer,
  text,
  time,
} from "../../../platform/database/schema/table.ts";
import type { Dialect, Reader, Tx } from "../../../platform/database/database.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import { lateWindowOf } from "../../organizations/store.ts";
import { findToken, type Network } from "../../../platform/chain/networks.ts";
import { freeAddresses } from "../../wallets/store.ts";
import { enteredMax, isUnpaid } from "./amount-search.ts";
import { roundedUpFrom, withFee } from "./amounts.ts";
import { anyToken } from "./holds.ts";
import { quoteFor, quotesOf, type Quote } from "../options/quotes.ts";
import { invoicesById, type InvoiceRow } from "../store.ts";

/**
 * The most by which a payment's block time may be before the start of its hold without the order being unknown, because the
 * clocks of chains and servers differ.
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
  /** Null while it is uncertain: then a hold matches if it is live now, whatever the times of its start and end. */
  readonly blockTime: Instant | null;
  /** The height at which the transfer was first seen, or a later one. */
  readonly blockHeight: number;
  /** When the transfer was recorded; null if it was not before. */
  readonly recordedAt: Instant | null;
}

/** Knowledge of the chain that has the transfers. */
export interface ChainEvidence {
  /** The height of its newest believed block. */
  readonly tipHeight: number;
  /** The hashes of blocks at or above the transfers that the chain certainly has. */
  readonly hashes: readonly string[];
}

export interface HoldMatch {
  readonly invoiceId: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly rule: "exclusive_address" | "exact_amount" | "within_tolerance";
  /** Why the merchant must decide although the transfer fits; absent if nothing speaks against the match. */
  readonly objection?: MatchObjection;
}

/**
 * Reasons against a match. `ambiguous_amount`: an earlier invoice held the same amount, or another one asks for it too, and its late window has not ended.
 * `reused_address`: an earlier invoice had the same address, its late window has not ended, and the amount is not exactly
 * what the present one asks for, or the earlier one asked for it too; or a restore may have lost such an invoice. `entered_amount`: a payer without a credential entered the price, and many could be hit on purpose.
 * `fee_kept`: an unpaid invoice asks for a little more, from which the payer's exchange may have kept a fee.
 * `rounded_up`: an unpaid invoice asks for less than 0.01 less, and its payer's wallet may take two decimals only.
 * `order_unknown`: the block has a time before the invoice, and the order of the chain does not say which came first.
 */
type MatchObjection =
  | "ambiguous_amount"
  | "reused_address"
  | "entered_amount"
  | "fee_kept"
  | "rounded_up"
  | "order_unknown";

/**
 * Matches transfers with live holds: by exclusive address, with any amount; otherwise by exact amount; otherwise by an
 * amount within the tolerance of exactly one invoice, unless a live hold of another invoice that is not paid is as near
 * (docs/decisions/0024), or an earlier invoice that may still be paid asked for just this amount. Transfers without a match
 * are left out; being the only open invoice is never a reason for a match. A match is a proposal: `acceptedMatches` of the
 * payments drops it if the invoice does not ask for the amount, or if it is uncertain. A transfer that was made before an
 * invoice never matches its holds: the order of the chain proves that, or the record (docs/decisions/0066). The number of
 * statements is bounded for any batch.
 */
export async function matchHolds(
  reader: Reader,
  network: Network,
  given: readonly MatchCandidate[],
  { tipHeight, hashes }: ChainEvidence,
): Promise<Map<string, HoldMatch>> {
  if (given.length === 0) return new Map();
  const candidates = given.map((candidate) => ({
    ...candidate,
    height: candidate.blockHeight,
    tipHeight,
    hashes: JSON.stringify(hashes),
  }));
  const found = await exactHolds(reader, network, candidates);
  const asked = await askedAtReused(reader, network.id, candidates, found);
  const matches = exactMatches(found, asked);
  const rest = candidates.filter(({ key }) => !matches.has(key));
  const tolerant = await tolerantHolds(reader, network.id, rest);
  const rivaled = await rivaledKeys(reader, network.id, rest, tolerant);
  for (const { key, invoiceId, organizationId, certain } of tolerant) {
    if (rivaled.has(key)) continue;
    const match = { invoiceId, organizationId, rule: "within_tolerance" } as const;
    matches.set(key, certain > 0 ? match : { ...match, objection: "order_unknown" });
  }
  return matches;
}

/**
 * Returns the matches by exclusive address or exact amount, by the candidates' keys. An exclusive address goes before an
 * amount, in whatever order the store finds the holds. `asked` are the keys of the result of `askedAtReused`.
 */
export function exactMatches(
  found: readonly ExactRow[],
  asked: ReadonlySet<string> = new Set(),
): Map<string, HoldMatch> {
  const matches = new Map<string, HoldMatch>();
  for (const held of found) {
    const rule = held.kind === "exclusive" ? "exclusive_address" : "exact_amount";
    if (rule === "exact_amount" && matches.has(held.key)) continue;
    const { invoiceId, organizationId } = held;
    const match = { invoiceId, organizationId, rule } as const;
    const objection =
      rule === "exact_amount" ? amountObjection(held) : addressObjection(held, asked);
    matches.set(held.key, objection === null ? match : { ...match, objection });
  }
  return matches;
}

function addressObjection(
  { key, former, needsDecision, uncertain, newAddress }: ExactRow,
  asked: ReadonlySet<string>,
): MatchObjection | null {
  // Nobody knew an address that no invoice had before.
  if (uncertain === 1 && newAddress === 0) return "order_unknown";
  const isClear = needsDecision === 0 && (former === null || asked.has(key));
  return isClear ? null : "reused_address";
}

function amountObjection({
  former,
  needsDecision,
  above,
  below,
  uncertain,
}: ExactRow): MatchObjection | null {
  if (former !== null) return "ambiguous_amount";
  if (uncertain === 1) return "order_unknown";
  if (needsDecision === 1) return "entered_amount";
  if (above !== null) return "fee_kept";
  return below === null ? null : "rounded_up";
}

interface HeldRow {
  readonly key: string;
  readonly invoiceId: Id<"invoice">;
  /** The start of the invoice's holds. */
  readonly startsAt: Instant;
  readonly organizationId: Id<"organization">;
}

const sought = {
  key: text(),
  address: text(),
  token: text(),
  blockTime: time().nullable(),
  height: integer(),
  recordedAt: time().nullable(),
  tipHeight: integer(),
  hashes: text(),
};

/** A candidate with what is known of the chain, as the columns of a probe. */
type Probe = MatchCandidate & {
  readonly height: number;
  readonly tipHeight: number;
  /** A JSON list. */
  readonly hashes: string;
};

/**
 * SQL condition: the hold is live, had not ended when the block of the probe was mined, and the transfer was not made before
 * the invoice: neither was it recorded before the hold, nor is its block at or below the hold's mark on the same branch.
 */
const mayBePaid = (hold: string, dialect: Dialect) =>
  `${hold}.released_at IS NULL AND (probe.block_time IS NULL OR ${hold}.ends_at >= probe.block_time)
    AND NOT (probe.recorded_at IS NOT NULL AND probe.recorded_at < ${hold}.starts_at)
    AND NOT (${hold}.mark_height IS NOT NULL AND ${hold}.mark_height >= probe.height
      AND ${hold}.mark_hash IN ${listed(dialect, "probe.hashes")})`;

/**
 * SQL condition: the transfer's block has a time before the hold, and is not certainly above the newest block of then. A
 * time that is not agreed on proves nothing.
 */
const isOrderUnknown = (hold: string) =>
  `(probe.block_time IS NOT NULL AND probe.block_time < ${hold}.starts_at - ${String(clockSlackMs)}
    AND NOT (${hold}.is_mark_recent = 1 AND ${hold}.mark_height < probe.height
      AND ${hold}.mark_height <= probe.tip_height))`;

/** SQL condition: the hold may be paid by the transfer of the probe, and this certainly came after it. */
const liveAtProbe = (hold: string, dialect: Dialect) =>
  `${mayBePaid(hold, dialect)} AND NOT ${isOrderUnknown(hold)}`;

/**
 * SQL condition: the late window of the recycled hold `former` was open when the block of the probe was mined or, if that
 * time is uncertain, when the present hold began.
 */
const isStillOpen = (present: string) =>
  `former.recycled_at IS NOT NULL AND former.ends_at >= COALESCE(probe.block_time, ${present}.starts_at)`;

interface ExactRow extends HeldRow {
  readonly kind: "exclusive" | "amount";
  /** The recycled hold of another invoice that had the same amount or address; null without one. */
  readonly former: string | null;
  /** 1 if the amount alone proves nothing: a payer entered the price; or the address: a restore may have lost another invoice with it. */
  readonly needsDecision: number;
  /** 1 if it is not known whether the transfer or the invoice came first. */
  readonly uncertain: number;
  /** 1 for an exclusive address that no invoice had before. */
  readonly newAddress: number;
  /** The bare price of an invoice a little above this one that is not paid, or was canceled, if this one is bare too. */
  readonly above: string | null;
  /**
   * The amount of an unpaid invoice that is rounded up to this round one; null without one. Not one that a payer entered,
   * or started at a link with more than `enteredMax` open invoices: a stranger must not make others' payments wait.
   */
  readonly below: string | null;
}

/** SQL condition: the link of `invoices` has so few open invoices that no stranger makes many payments wait with them. */
const fewAtLink = `(
             SELECT count(*) FROM (
               SELECT 1 AS one FROM invoices AS others
               WHERE others.organization_id = invoices.organization_id
                 AND others.started_at_link = invoices.started_at_link AND others.status = 'open'
               LIMIT ${String(enteredMax + 1)}
             ) AS few
           ) <= ${String(enteredMax)}`;

const exactProbes = givenRows("probe", {
  ...sought,
  amount: amount(),
  withFee: amount(),
  roundedFrom: amount(),
});

async function exactHolds(
  reader: Reader,
  network: Network,
  candidates: readonly Probe[],
): Promise<ExactRow[]> {
  const { dialect } = reader;
  const asked = candidates.flatMap((candidate) => {
    const token = findToken(network, candidate.token);
    const most = token === null ? candidate.amount : withFee(candidate.amount, token);
    const roundedFrom = token === null ? candidate.amount : roundedUpFrom(candidate.amount, token);
    return [
      { ...candidate, token: anyToken, amount: 0n, withFee: 0n, roundedFrom: 0n },
      { ...candidate, withFee: most, roundedFrom },
    ];
  });
  // SQLite keeps the order of a CROSS JOIN, which means few probes into a large index.
  return reader.all(
    `SELECT probe.key AS "key", holds.kind AS kind, holds.invoice_id AS "invoiceId",
       holds.organization_id AS "organizationId", holds.starts_at AS "startsAt", (
         SELECT former.id FROM holds AS former
         WHERE former.network = holds.network AND former.address = holds.address
           AND former.token = holds.token AND former.amount = holds.amount
           AND ${isStillOpen("holds")}
           AND former.invoice_id <> holds.invoice_id
         LIMIT 1
       ) AS former, holds.needs_decision AS "needsDecision", holds.is_new_address AS "newAddress",
       CASE WHEN ${isOrderUnknown("holds")} THEN 1 ELSE 0 END AS uncertain, CASE WHEN holds.amount = holds.price THEN (
         SELECT above.amount FROM holds AS above JOIN invoices ON invoices.id = above.invoice_id
         WHERE above.network = holds.network AND above.address = holds.address AND above.token = holds.token
           AND above.amount = above.price AND above.amount > probe.amount AND above.amount <= probe.with_fee
           AND ${liveAtProbe("above", dialect)} AND above.invoice_id <> holds.invoice_id
           AND invoices.status NOT IN ('confirming', 'paid')
         LIMIT 1
       ) END AS above, CASE WHEN probe.rounded_from < probe.amount THEN (
         SELECT below.amount FROM holds AS below JOIN invoices ON invoices.id = below.invoice_id
         WHERE below.network = holds.network AND below.address = holds.address AND below.token = holds.token
           AND below.amount >= probe.rounded_from AND below.amount < probe.amount
           AND below.entered_at_link IS NULL
           AND ${liveAtProbe("below", dialect)} AND below.invoice_id <> holds.invoice_id AND invoices.${isUnpaid}
           AND (invoices.started_at_link IS NULL OR (invoices.status = 'open' AND ${fewAtLink}))
         LIMIT 1
       ) END AS below
     FROM ${exactProbes.from(dialect, 2)} CROSS JOIN holds
     WHERE holds.network = $1 AND holds.address = probe.address AND holds.token = probe.token
       AND holds.amount = probe.amount AND ${mayBePaid("holds", dialect)}`,
    [network.id, exactProbes.values(asked)],
  );
}

/** The number of earlier invoices with recycled addresses that are read for a batch of transfers. */
const formersMax = 1_000;

const presentHold = { invoiceId: text<Id<"invoice">>(), startsAt: time() };
const reusedProbes = givenRows("probe", { ...sought, ...presentHold });

/**
 * Returns the transfers to recycled addresses, by their keys, that are exactly what the present invoice asks for and not
 * what one of the earlier ones asked for whose late windows have not ended (docs/decisions/0059).
 */
async function askedAtReused(
  reader: Reader,
  network: string,
  candidates: readonly Probe[],
  found: readonly ExactRow[],
): Promise<ReadonlySet<string>> {
  const reused = found.filter(({ kind, former }) => kind === "exclusive" && former !== null);
  if (reused.length === 0) return new Set();
  const candidateOf = new Map(candidates.map((candidate) => [candidate.key, candidate]));
  const asked = reused.flatMap(({ key, invoiceId, startsAt }) => {
    const candidate = candidateOf.get(key);
    return candidate === undefined ? [] : [{ ...candidate, invoiceId, startsAt }];
  });
  const formers = await reader.all<{ key: string; invoiceId: Id<"invoice"> }>(
    `SELECT probe.key AS "key", former.invoice_id AS "invoiceId"
     FROM ${reusedProbes.from(reader.dialect, 2)} CROSS JOIN holds AS former
     WHERE former.network = $1 AND former.address = probe.address AND former.token = '${anyToken}'
       AND former.amount = '${encodeAmount(0n)}' AND ${isStillOpen("probe")}
       AND former.invoice_id <> probe.invoice_id
     LIMIT ${String(formersMax)}`,
    [network, reusedProbes.values(asked)],
  );
  // Earlier invoices that were not read may have asked for the same.
  if (formers.length >= formersMax) return new Set();
  const rows = await invoicesById(reader, [
    ...new Set([...asked, ...formers].map(({ invoiceId }) => invoiceId)),
  ]);
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const isAsked = (invoiceId: Id<"invoice">, candidate: MatchCandidate | undefined) => {
    const row = rowOf.get(invoiceId);
    if (row === undefined || candidate === undefined) return false;
    const { token, amount } = candidate;
    const quote = quoteFor(quotesOf(row), { network, token });
    return quote !== undefined && askedBy(row, quote) === amount;
  };
  const askedEarlier = new Set(
    formers
      .filter(({ key, invoiceId }) => isAsked(invoiceId, candidateOf.get(key)))
      .map(({ key }) => key),
  );
  const exact = asked.filter((each) => isAsked(each.invoiceId, each));
  return new Set(exact.map(({ key }) => key).filter((key) => !askedEarlier.has(key)));
}

/** Returns the amount that an invoice asks for at one of its quotes; null if it asks for none. */
function askedBy(
  { network, tokenSymbol, seenAmount, remainingAmount }: InvoiceRow,
  quote: Quote,
): bigint | null {
  const isInForce = quote.network === network && quote.tokenSymbol === tokenSymbol;
  // A canceled invoice asks for nothing, but its payer may still send what it asked for.
  if (seenAmount === 0n) return quote.payableAmount;
  return isInForce ? remainingAmount : null;
}

const tolerantProbes = givenRows("probe", { ...sought, amount: amount(), most: amount() });

interface TolerantRow extends HeldRow {
  /** The lowest amount among the invoice's holds above the transfer's amount, in the store's encoding. */
  readonly amount: string;
  /** The number of these holds before which the transfer certainly was not made. */
  readonly certain: number;
}

/** Returns the single tolerant invoice of each transfer: the one that came before it for certain, or may have. */
async function tolerantHolds(
  reader: Reader,
  network: string,
  candidates: readonly Probe[],
): Promise<TolerantRow[]> {
  const { dialect } = reader;
  if (candidates.length === 0) return [];
  const asked = candidates.map((candidate) => ({
    ...candidate,
    // No hold above this amount has enough tolerance.
    most: divideRounded(candidate.amount * 100n, BigInt(100 - maxTolerancePercent), "up"),
  }));
  const certain = (column: string) =>
    `CASE WHEN NOT ${isOrderUnknown("holds")} THEN holds.${column} END`;
  const first = (column: string) => `COALESCE(min(${certain(column)}), min(holds.${column}))`;
  return reader.all(
    `SELECT probe.key AS "key", ${first("invoice_id")} AS "invoiceId",
       ${first("organization_id")} AS "organizationId", ${first("amount")} AS amount,
       ${first("starts_at")} AS "startsAt",
       count(${certain("id")}) AS certain
     FROM ${tolerantProbes.from(dialect, 2)} CROSS JOIN holds
     WHERE holds.network = $1 AND holds.address = probe.address AND holds.token = probe.token
       AND holds.amount > probe.amount AND holds.amount <= probe.most
       AND holds.least_amount < holds.amount AND holds.least_amount <= probe.amount
       AND ${mayBePaid("holds", dialect)}
     GROUP BY probe.key HAVING count(DISTINCT ${certain("invoice_id")}) = 1
       OR (count(${certain("id")}) = 0 AND count(DISTINCT holds.invoice_id) = 1)`,
    [network, tolerantProbes.values(asked)],
  );
}

const rivalProbes = givenRows("probe", {
  ...sought,
  ...presentHold,
  amount: amount(),
  least: amount(),
  most: amount(),
});

/**
 * Returns the transfers to whose amount another unpaid invoice is at least as near as the tolerant one, or that an earlier
 * invoice asked for without holding it any more: a rest that nobody could hold, or a recycled amount (docs/decisions/0022).
 */
async function rivaledKeys(
  reader: Reader,
  network: string,
  candidates: readonly Probe[],
  tolerant: readonly TolerantRow[],
): Promise<ReadonlySet<string>> {
  if (tolerant.length === 0) return new Set();
  const nearest = new Map(tolerant.map((row) => [row.key, row]));
  const asked = candidates.flatMap((candidate) => {
    const row = nearest.get(candidate.key);
    if (row === undefined) return [];
    const range = rivalRange(candidate.amount, decodeAmount(row.amount));
    const { invoiceId, startsAt } = row;
    return [{ ...candidate, ...range, invoiceId, startsAt }];
  });
  const rows = await reader.all<{ key: string }>(
    `SELECT probe.key AS "key" FROM ${rivalProbes.from(reader.dialect, 2)} WHERE EXISTS (
       SELECT 1 FROM holds JOIN invoices ON invoices.id = holds.invoice_id
       WHERE holds.network = $1 AND holds.address = probe.address AND holds.token = probe.token
         AND holds.amount >= probe.least AND holds.amount <= probe.most
         AND holds.invoice_id <> probe.invoice_id AND holds.entered_at_link IS NULL
         AND ${liveAtProbe("holds", reader.dialect)}
         AND invoices.status NOT IN ('confirming', 'paid')
     ) OR EXISTS (
       SELECT 1 FROM holds AS former
       WHERE former.network = $1 AND former.address = probe.address AND former.token = probe.token
         AND former.amount = probe.amount AND ${isStillOpen("probe")}
         AND former.invoice_id <> probe.invoice_id
     )`,
    [network, rivalProbes.values(asked)],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Returns the amounts whose distance from a transfer's amount is at most that of one above it. */
export function rivalRange(
  amount: bigint,
  above: bigint,
): { readonly least: bigint; readonly most: bigint } {
  const distance = above - amount;
  return { least: distance < amount ? amount - distance : 0n, most: above };
}

/** Shortens the late window of an invoice that ends before its deadline, and returns its end; null for a draft. */
export async function endHolds(
  tx: Tx,
  { id, organizationId, lateUntil }: Pick<InvoiceRow, "id" | "organizationId" | "lateUntil">,
  endedAt: Instant,
): Promise<Instant | null> {
  if (lateUntil === null) return null;
  const until = Math.min(lateUntil, endedAt + (await lateWindowOf(tx, organizationId)));
  await tx.run(
    "UPDATE holds SET ends_at = $2 WHERE invoice_id = $1 AND released_at IS NULL AND ends_at > $2",
    [id, until],
  );
  return until;
}

const releasedMax = 500;

/**
 * Releases holds that had ended when the newest final block was mined, in a bounded batch, and frees their addresses for
 * other invoices. `family` is that of the network's addresses. Returns the number of holds.
 */
export async function releaseHolds(
  tx: Tx,
  network: string,
  family: string,
  finalTime: Instant,
  at: Instant,
): Promise<number> {
  const released = await tx.all<{ kind: string; address: Address }>(
    `UPDATE holds SET released_at = $3 WHERE id IN (
       SELECT id FROM holds WHERE network = $1 AND released_at IS NULL AND ends_at < $2
       ORDER BY ends_at LIMIT ${String(releasedMax)}
     ) RETURNING kind AS "kind", address AS "address"`,
    [network, finalTime, at],
  );
  const own = released.filter(({ kind }) => kind === "exclusive").map(({ address }) => address);
  if (own.length > 0) await freeAddresses(tx, family, own);
  return released.length;
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
