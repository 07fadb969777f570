import type { z } from "zod";
import type { InTx } from "../../../app.ts";
import type { Id } from "../../../kernel/id.ts";
import { findToken, type NetworkToken } from "../../../platform/chain/networks.ts";
import { integer, type RowOf } from "../../../platform/database/schema/table.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import type { Subscriber } from "../../../platform/events/outbox.ts";
import { presentUse, type WalletCapacityRecord } from "./records.ts";
import { type BandUse, shareOf } from "./capacity.ts";
import { amountRange, isOccasionToCount, amountsIn, type AmountRange } from "../holds/amounts.ts";
import { recycleHolds, type HoldTarget } from "../holds/amount-search.ts";
import { quoteFor, quotesOf } from "../options/quotes.ts";
import { invoicesById } from "../store.ts";
import { halfFullBands, holds } from "../table.ts";
import type { Networks } from "../issuing/plan.ts";

/** The used share of a price's amounts at an address that triggers a warning to the organization, from 0 to 1. */
const warnedFrom = 0.5;
/** The used share that triggers the recycling of dead invoices' amounts, from 0 to 1. */
const recycledFrom = 0.9;

/** Events after which an address may hold more amounts than before. */
const holding = new Set([
  "invoice.created",
  "invoice.issued",
  "invoice.option_chosen",
  "invoice.partially_paid",
]);

/** A price at an address, with the newest invoice that holds one of its amounts. */
interface Band extends HoldTarget {
  readonly tokenOf: NetworkToken;
  readonly range: AmountRange;
  readonly invoiceId: Id<"invoice">;
}

interface FullBand extends Band {
  readonly use: BandUse;
}

/**
 * Watches the used share of each price's amounts at an address, after the invoices that take them. Warns the
 * organization once when half are held, and again only after fewer were; when nearly all are held, recycles amounts of
 * dead invoices (docs/decisions/0022). It runs in the relay's transaction, in which only one server at a time can be,
 * and not in that of the issue. A price with many amounts is counted after only a sample of its invoices.
 */
export async function watchCapacity(
  tx: Tx,
  app: InTx,
  relayed: Parameters<Subscriber>[1],
): Promise<void> {
  const invoiceIds = relayed
    .filter(({ type }) => holding.has(type))
    .map(({ objectId }) => objectId as Id<"invoice">);
  if (invoiceIds.length === 0) return;
  const bands = await bandsToCount(tx, app.networks.known, invoiceIds);
  if (bands.length === 0) return;

  const at = app.clock.now();
  const full = (await withUse(tx, bands)).filter(({ use }) => shareOf(use) >= warnedFrom);
  const unwarned = await bandsToWarn(tx, full);
  if (unwarned.length > 0) {
    await tx.insertMany(
      halfFullBands,
      unwarned.map(({ band: { network, address, token, range, use, organizationId } }) => ({
        network,
        address,
        token,
        price: range.base,
        most: range.base + range.cap,
        places: use.total,
        organizationId,
        warnedAt: at,
      })),
    );
  }
  for (const { band, walletId } of unwarned) {
    app.journal.record(tx, at, {
      organizationId: band.organizationId,
      subjectType: "wallet_capacity",
      subjectId: walletId,
      events: {
        types: ["wallet_capacity.half_used"],
        version: at,
        data: capacityOf(band, walletId),
      },
    });
  }
  // There is rarely more than one.
  for (const band of full) {
    const excess = band.use.used - (Math.ceil(band.use.total * recycledFrom) - 1);
    if (excess > 0) await recycleHolds(tx, band, band.range, excess, at);
  }
}

/** Returns the prices of new invoices whose holds are due to be counted, each once. */
async function bandsToCount(
  tx: Tx,
  networks: Networks,
  invoiceIds: readonly Id<"invoice">[],
): Promise<readonly Band[]> {
  const held = await tx.find(
    holds,
    `WHERE invoice_id IN ${listed(tx.dialect, 1)} AND released_at IS NULL AND price IS NOT NULL ORDER BY id`,
    [JSON.stringify(invoiceIds)],
  );
  const bands = new Map<string, Band>();
  for (const { network, address, token, price, amount, organizationId, invoiceId } of held) {
    const configured = networks.get(network);
    const tokenOf = configured === undefined ? null : findToken(configured, token);
    if (price === null || tokenOf === null) continue;
    const range = amountRange(price, tokenOf);
    if (!isOccasionToCount(range, amount)) continue;
    const target = { organizationId, network, address, token };
    bands.set(`${network} ${address} ${token} ${String(price)}`, {
      ...target,
      tokenOf,
      range,
      invoiceId,
    });
  }
  return [...bands.values()];
}

const { network, address, token, amount } = holds.columns;
const bandRows = givenRows("given", {
  place: integer(),
  network,
  address,
  token,
  least: amount,
  most: amount,
});

async function withUse(tx: Tx, bands: readonly Band[]): Promise<FullBand[]> {
  const asked = bands.map(({ network, address, token, range }, index) => ({
    place: index,
    network,
    address,
    token,
    least: range.base,
    most: range.base + range.cap,
  }));
  const rows = await tx.all<{ index: number; held: number }>(
    `SELECT given.place AS "index", (
       SELECT count(*) FROM holds WHERE network = given.network AND address = given.address
         AND token = given.token AND amount >= given.least AND amount <= given.most
         AND released_at IS NULL
     ) AS held FROM ${bandRows.from(tx.dialect, 1)}`,
    [bandRows.values(asked)],
  );
  return rows.flatMap(({ index, held }) => {
    const band = bands[index];
    if (band === undefined) return [];
    const total = Number(amountsIn(band.range));
    return [{ ...band, use: { price: band.range.base, used: Math.min(held, total), total } }];
  });
}

/** Returns the half-full bands without a warning, with the wallets of their addresses. */
async function bandsToWarn(
  tx: Tx,
  full: readonly FullBand[],
): Promise<{ readonly band: FullBand; readonly walletId: Id<"wallet"> }[]> {
  if (full.length === 0) return [];
  const warned: WarnedBand[] = await tx.find(
    halfFullBands,
    `WHERE organization_id IN ${listed(tx.dialect, 1)}`,
    [JSON.stringify([...new Set(full.map(({ organizationId }) => organizationId))])],
  );
  const holders = await invoicesById(
    tx,
    full.map(({ invoiceId }) => invoiceId),
  );
  const quotes = new Map(holders.map((row) => [row.id, quotesOf(row)]));
  const found: { band: FullBand; walletId: Id<"wallet"> }[] = [];
  for (const band of full) {
    const walletId = quoteFor(quotes.get(band.invoiceId) ?? [], band)?.walletId ?? null;
    if (walletId === null || warned.some((one) => isSameCrowd(one, band))) continue;
    warned.push({ ...band, price: band.range.base });
    found.push({ band, walletId });
  }
  return found;
}

type WarnedBand = Pick<RowOf<typeof halfFullBands>, "network" | "address" | "token" | "price">;
type PriceAtAddress = Omit<WarnedBand, "price"> & {
  readonly range: Pick<AmountRange, "base" | "cap">;
};

/**
 * True if the two prices share at least half of their amounts. A moving exchange rate gives each invoice a price of its
 * own.
 */
export function isSameCrowd(
  warned: WarnedBand,
  { network, address, token, range }: PriceAtAddress,
): boolean {
  const distance =
    warned.price > range.base ? warned.price - range.base : range.base - warned.price;
  return (
    warned.network === network &&
    warned.address === address &&
    warned.token === token &&
    distance * 2n <= range.cap
  );
}

/** Deletes the warnings about a network's bands that are now less than half full. Call it after a release. */
export async function forgetWarnings(tx: Tx, network: string): Promise<void> {
  await tx.run(
    `DELETE FROM half_full_bands WHERE network = $1 AND 2 * (
       SELECT count(*) FROM holds WHERE holds.network = half_full_bands.network
         AND holds.address = half_full_bands.address AND holds.token = half_full_bands.token
         AND holds.amount >= half_full_bands.price AND holds.amount <= half_full_bands.most
         AND holds.released_at IS NULL
     ) < places`,
    [network],
  );
}

function capacityOf(
  { network, tokenOf, use }: FullBand,
  walletId: Id<"wallet">,
): z.input<typeof WalletCapacityRecord> {
  return {
    walletId,
    network,
    kind: "address",
    tokens: [presentUse(tokenOf, use)],
    addresses: null,
  };
}
