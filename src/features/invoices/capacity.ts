import { powerOfTen } from "../../kernel/ratio.ts";
import type { Network, NetworkToken } from "../../platform/chain/networks.ts";
import { encodeAmount, type Reader } from "../../platform/database/index.ts";
import { amountRange, placesIn } from "./hold-amounts.ts";

/** How many of the amounts that may stand for one price are held. */
export interface BandUse {
  /** In the token's smallest unit. */
  readonly price: bigint;
  readonly used: number;
  readonly total: number;
}

/** The fullest price of a network, at any one address. */
export interface HoldUse extends BandUse {
  readonly network: string;
  readonly token: NetworkToken;
}

/** Prices are told apart by hundredths of a token: what people ask for has no more decimals. */
const priceDecimals = 2;
const storedDigits = encodeAmount(0n).length;

/** How much of one price at an address is held: one range of one index. */
export async function bandUse(
  reader: Reader,
  place: { readonly network: string; readonly address: string },
  token: NetworkToken,
  price: bigint,
): Promise<BandUse> {
  const range = amountRange(price, token.decimals);
  const [counted] = await reader.all<{ held: number }>(
    `SELECT count(*) AS held FROM holds WHERE network = $1 AND address = $2 AND token = $3
       AND amount >= $4 AND amount <= $5 AND released_at IS NULL`,
    [
      ...[place.network, place.address, token.symbol],
      ...[encodeAmount(price), encodeAmount(price + range.cap)],
    ],
  );
  return useOf(price, token.decimals, counted?.held ?? 0);
}

function useOf(price: bigint, decimals: number, held: number): BandUse {
  const total = Number(placesIn(amountRange(price, decimals)));
  return { price, used: Math.min(held, total), total };
}

interface Bucket {
  readonly address: string;
  readonly price: bigint;
  readonly held: number;
}

/** The fullest price at one address; null where nothing is held there. */
export async function fullestBand(
  reader: Reader,
  place: { readonly network: string; readonly address: string },
  token: NetworkToken,
): Promise<BandUse | null> {
  return fullest(await buckets(reader, place.network, token, place.address), token.decimals);
}

/**
 * The fullest price of each network, at any of its addresses, so that it is seen before an invoice is refused; a network
 * where nothing is held is not in the answer. It reads an index over all live holds: for now and then.
 */
export async function holdUse(reader: Reader, networks: Iterable<Network>): Promise<HoldUse[]> {
  const found: HoldUse[] = [];
  for (const network of networks) {
    const uses: HoldUse[] = [];
    for (const token of network.tokens) {
      const use = fullest(await buckets(reader, network.id, token, null), token.decimals);
      if (use !== null) uses.push({ ...use, network: network.id, token });
    }
    const [most] = uses.sort((one, other) => shareOf(other) - shareOf(one));
    if (most !== undefined) found.push(most);
  }
  return found;
}

/** From 0 to 1. */
export function shareOf({ used, total }: Pick<BandUse, "used" | "total">): number {
  return used / total;
}

/** How many holds lie in each hundredth of a token, in order. */
async function buckets(
  reader: Reader,
  network: string,
  token: NetworkToken,
  address: string | null,
): Promise<Bucket[]> {
  const cut = Math.max(0, token.decimals - priceDecimals);
  const prefix = `substr(amount, 1, ${String(storedDigits - cut)})`;
  const rows = await reader.all<{ address: string; prefix: string; held: number }>(
    `SELECT address, ${prefix} AS prefix, count(*) AS held FROM holds
     WHERE network = $1 AND token = $2 AND released_at IS NULL${address === null ? "" : " AND address = $3"}
     GROUP BY address, ${prefix} ORDER BY address, ${prefix}`,
    address === null ? [network, token.symbol] : [network, token.symbol, address],
  );
  return rows.map((row) => ({
    address: row.address,
    price: BigInt(row.prefix) * powerOfTen(cut),
    held: row.held,
  }));
}

/** The price whose amounts, up to its largest surcharge, are held most. */
function fullest(inOrder: readonly Bucket[], decimals: number): BandUse | null {
  let most: BandUse | null = null;
  let end = 0;
  let held = 0;
  for (const [start, bucket] of inOrder.entries()) {
    const { address, price } = bucket;
    const last = price + amountRange(price, decimals).cap;
    if (end < start) {
      end = start;
      held = 0;
    }
    for (let next = inOrder[end]; next !== undefined; next = inOrder[end]) {
      if (next.address !== address || next.price > last) break;
      held += next.held;
      end += 1;
    }
    const use = useOf(price, decimals, held);
    if (most === null || shareOf(use) > shareOf(most)) most = use;
    held -= bucket.held;
  }
  return most;
}
