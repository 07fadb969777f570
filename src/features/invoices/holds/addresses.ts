import type { InTx } from "../../../app.ts";
import { hour, type Instant } from "../../../kernel/clock.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Address } from "../../../platform/chain/client.ts";
import { encodeAmount } from "../../../platform/database/schema/table.ts";
import type { Dialect, Reader, Tx } from "../../../platform/database/database.ts";
import { givenTexts, listed, listedValues } from "../../../platform/database/query/json-rows.ts";
import { skipLocked } from "../../../platform/database/write/locks.ts";
import { heldAddresses, takeFree } from "../../wallets/store.ts";
import { ordinaryGapLimit, type AddressTaker } from "../../wallets/rules.ts";
import { takeAddresses, type DerivedAddress, type KeyWallet } from "../../wallets/wallets.ts";
import { anyToken, holdAddress, type HoldTerms } from "./holds.ts";

/** An invoice that needs an address of its own, with the amount that it asks for. */
interface AddressRequest extends HoldTerms {
  /** The token's symbol. */
  readonly token: string;
  /** In the token's smallest unit. */
  readonly price: bigint;
}

/**
 * How long an invoice has been dead at least before its address is recycled: a payment in time, of which a provider tells
 * only later, still finds its hold.
 */
const deadForMs = hour;

/**
 * The number of unpaid addresses in a row, of which links take every second one, from which on a link's invoices get
 * addresses of dead invoices that asked for the same amount, so that payments of this amount wait for the merchant.
 * Otherwise each invoice of a link with one price would have to be watched at an address of its own until its late window
 * ends.
 */
export const linkAddressesMax = 400;

/**
 * Holds an address of an extended key for each invoice, exclusively (docs/decisions/0059): the lowest that is free, then
 * the key's next index, as long as ordinary wallets scan it. Then addresses are recycled from dead invoices that payers
 * started at links, preferably from those that asked for another amount; and then free and next ones are taken again. The
 * result is in the order of the requests; it is shorter if the key was archived or has no address left.
 */
export async function holdAddresses(
  tx: Tx,
  app: InTx,
  wallet: KeyWallet,
  { id: network, kind }: Pick<Network, "id" | "kind">,
  requests: readonly AddressRequest[],
  taker: AddressTaker,
): Promise<readonly DerivedAddress[]> {
  const taken: DerivedAddress[] = [];
  const neverHeld = new Set<DerivedAddress>();
  const wanted = () => requests.length - taken.length;
  const take = async (unpaidMax?: number) => {
    if (wanted() > 0) taken.push(...(await takeFree(tx, wallet, taker, wanted(), unpaidMax)));
    if (wanted() <= 0) return;
    for (const next of await takeAddresses(tx, wallet, kind, taker, wanted(), unpaidMax)) {
      taken.push(next);
      neverHeld.add(next);
    }
  };
  const recycle = async (isSameAsked: boolean) => {
    for (const request of requests.slice(taken.length)) {
      const recycled = await recycleAddress(tx, wallet, network, request, isSameAsked);
      if (recycled === null) return;
      taken.push(recycled);
    }
  };
  await take(ordinaryGapLimit);
  await recycle(false);
  if (taker === "link") {
    await take(linkAddressesMax);
    await recycle(true);
  }
  await take();
  const { organizationId, identity } = wallet;
  const recyclableKey = taker === "link" ? identity : null;
  for (const [index, derived] of taken.entries()) {
    const request = requests[index];
    if (request === undefined) continue;
    const target = { organizationId, network, address: derived.address };
    const isNewAddress = neverHeld.has(derived);
    holdAddress(tx, app, target, request, { recyclableKey, isNewAddress });
  }
  return taken;
}

/**
 * Releases the oldest hold of an address of the key whose invoice a payer started at a link, and which has expired or was
 * canceled without any transfer to the address, and returns the address; null without such a hold. The new invoice's late
 * window must not end earlier, because the address is watched until then. Unless `isSameAsked`, no invoice whose late
 * window has not ended may have asked for the same amount at the address. Concurrent transactions take different ones.
 */
async function recycleAddress(
  tx: Tx,
  wallet: KeyWallet,
  network: string,
  { token, price, startsAt, endsAt }: AddressRequest,
  isSameAsked: boolean,
): Promise<DerivedAddress | null> {
  const released = await tx.all<{ address: Address }>(
    `WITH oldest AS MATERIALIZED (
       SELECT held.id AS id FROM holds AS held JOIN invoices ON invoices.id = held.invoice_id
       WHERE held.network = $1 AND held.recyclable_key = $2 AND held.released_at IS NULL
         AND held.organization_id = $3 AND held.ends_at <= $6 AND invoices.status IN ('canceled', 'expired')
         AND COALESCE(invoices.canceled_at, invoices.expires_at) <= $7
         AND invoices.seen_amount = $4${isSameAsked ? "" : ` AND NOT (${askedSame(tx.dialect, "invoices")}) AND ${noneAskedSame(tx.dialect)}`}
       ORDER BY held.starts_at, held.id LIMIT 1${skipLocked[tx.dialect]}
     )
     UPDATE holds SET released_at = $5, recycled_at = $5
     WHERE released_at IS NULL AND id IN (SELECT id FROM oldest) RETURNING address AS "address"`,
    [
      ...[
        network,
        wallet.identity,
        wallet.organizationId,
        encodeAmount(0n),
        startsAt,
        endsAt,
        startsAt - deadForMs,
      ],
      ...(isSameAsked ? [] : [token, encodeAmount(price), String(price)]),
    ],
  );
  const [recycled = null] = await heldAddresses(
    tx,
    wallet,
    released.map(({ address }) => address),
  );
  return recycled;
}

/** SQL condition: an invoice asked for the amount of the new one, in the option in force or in another one that was chosen. */
const askedSame = (dialect: Dialect, invoice: string) =>
  `(${invoice}.token_symbol = $8 AND ${invoice}.payable_amount = $9) OR EXISTS (
           SELECT 1 FROM ${listedValues(dialect, `${invoice}.payment_options`, "chosen")}
           WHERE (chosen.value ->> 'network') = $1 AND (chosen.value ->> 'tokenSymbol') = $8
             AND (chosen.value -> 'quote' ->> 'payableAmount') = $10
         )`;

/** SQL condition: no earlier invoice that may still be paid late asked for the same amount at the address of `held`. */
const noneAskedSame = (dialect: Dialect) => `NOT EXISTS (
           SELECT 1 FROM invoices AS its JOIN holds AS former ON former.invoice_id = its.id
           WHERE former.network = held.network AND former.address = held.address
             AND former.token = '${anyToken}' AND former.amount = $4 AND former.recycled_at IS NOT NULL
             AND former.ends_at >= $5 AND (${askedSame(dialect, "its")})
         )`;

/** Whether an earlier invoice whose address was recycled may still be paid late at an address. */
export async function hasFormer(
  tx: Tx,
  network: string,
  address: Address,
  at: Instant,
): Promise<boolean> {
  const found = await tx.all(
    `SELECT 1 AS found FROM holds WHERE network = $1 AND address = $2 AND token = '${anyToken}' AND amount = $3
       AND recycled_at IS NOT NULL AND ends_at >= $4 LIMIT 1`,
    [network, address, encodeAmount(0n), at],
  );
  return found.length > 0;
}

/** Excludes addresses that received a transfer from recycling. */
export async function endRecycling(
  tx: Tx,
  network: string,
  addresses: readonly Address[],
): Promise<void> {
  await tx.run(
    `UPDATE holds SET recyclable_key = NULL
     WHERE network = $1 AND released_at IS NULL AND recyclable_key IS NOT NULL
       AND address IN ${listed(tx.dialect, 2)}`,
    [network, JSON.stringify(addresses)],
  );
}

/**
 * Lets all transfers to recyclable addresses of a restored store wait for the merchant: an invoice that the restore has
 * lost may have got the address.
 */
export async function leaveToMerchants(tx: Tx): Promise<void> {
  await tx.run(
    `UPDATE holds SET needs_decision = 1, recyclable_key = NULL
     WHERE released_at IS NULL AND recyclable_key IS NOT NULL`,
  );
}

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
interface WatchedSince {
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
