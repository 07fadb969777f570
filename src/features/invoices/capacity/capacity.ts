import { perApp, type App } from "../../../app.ts";
import { minute, type Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parseMoneyField, tokenAsset } from "../../../kernel/money/money.ts";
import { powerOfTen } from "../../../kernel/money/ratio.ts";
import type { Network, NetworkToken } from "../../../platform/chain/networks.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { encodeAmount } from "../../../platform/database/schema/table.ts";
import { findWallet, type WalletView } from "../../wallets/store.ts";
import { amountRange, amountsIn, type AmountToken } from "../holds/amounts.ts";

/** A wallet with its remaining capacity. */
export interface WalletCapacity {
  readonly wallet: WalletView;
  /** For an address; `use` is null if no amount of the token is held. */
  readonly tokens: readonly { readonly token: NetworkToken; readonly use: BandUse | null }[];
}

/**
 * Returns a wallet's capacity at the price `amount`, in tokens as decimal text; without it, at the price with the largest
 * used share. @throws a 404 problem if the organization has no wallet with this id
 */
export async function getWalletCapacity(
  { db, networks }: App,
  organizationId: Id<"organization">,
  walletId: Id<"wallet">,
  amount?: string,
): Promise<WalletCapacity> {
  const wallet = await findWallet(db, organizationId, walletId);
  if (wallet === null) throw notFound();
  const network = networks.known.get(wallet.network);
  const { address } = wallet;
  if (network === undefined || address === null) return { wallet, tokens: [] };
  const target = { network: network.id, address };
  const tokens = network.tokens.map(async (token) => {
    const asset = tokenAsset(token.symbol, token.decimals);
    const use =
      amount === undefined
        ? await fullestBand(db, target, token)
        : await bandUse(
            db,
            target,
            token,
            parseMoneyField({ parameter: "amount" }, amount, asset).units,
          );
    return { token, use };
  });
  return { wallet, tokens: await Promise.all(tokens) };
}

/**
 * Returns the price with the largest used share of each enabled network. Because that reads all holds, the result may be
 * a minute old, or older if reading is slow: at most one part in five hundred of the time is spent on reading it.
 */
export function readHoldUse(app: App): Promise<readonly HoldUse[]> {
  return recentHoldUseIn(app)();
}

const holdUseForMs = minute;
const holdUseRestsFor = 500;

const recentHoldUseIn = perApp(({ db, clock, networks }) => {
  let known: { readonly uses: Promise<readonly HoldUse[]>; at: Instant; forMs: number } | null =
    null;

  async function read(begun: Instant): Promise<readonly HoldUse[]> {
    try {
      const uses = await holdUse(db, networks.enabled.values());
      const at = clock.now();
      const forMs = Math.max(holdUseForMs, holdUseRestsFor * Math.max(0, at - begun));
      if (known !== null) known = { ...known, at, forMs };
      return uses;
    } catch (error) {
      known = null;
      throw error;
    }
  }

  return () => {
    const now = clock.now();
    if (known === null || Math.abs(now - known.at) >= known.forMs) {
      known = { uses: read(now), at: now, forMs: Infinity };
    }
    return known.uses;
  };
});

/** The number of held amounts of a price. */
export interface BandUse {
  /** In the token's smallest unit. */
  readonly price: bigint;
  readonly used: number;
  readonly total: number;
}

/** The price of a network with the largest used share, at any address. */
export interface HoldUse extends BandUse {
  readonly network: string;
  readonly token: NetworkToken;
}

/** Prices are grouped by hundredths of a token, because ordinary prices have no more decimals. */
const priceDecimals = 2;
const storedDigits = encodeAmount(0n).length;

/** Counts the held amounts of one price at an address, by one index range. */
export async function bandUse(
  reader: Reader,
  target: { readonly network: string; readonly address: string },
  token: NetworkToken,
  price: bigint,
): Promise<BandUse> {
  const range = amountRange(price, token);
  const [counted] = await reader.all<{ held: number }>(
    `SELECT count(*) AS held FROM holds WHERE network = $1 AND address = $2 AND token = $3
       AND amount >= $4 AND amount <= $5 AND released_at IS NULL`,
    [
      ...[target.network, target.address, token.symbol],
      ...[encodeAmount(price), encodeAmount(price + range.cap)],
    ],
  );
  return useOf(price, token, counted?.held ?? 0);
}

function useOf(price: bigint, token: AmountToken, held: number): BandUse {
  const total = Number(amountsIn(amountRange(price, token)));
  return { price, used: Math.min(held, total), total };
}

interface Bucket {
  readonly address: string;
  readonly price: bigint;
  readonly held: number;
}

/** Returns the price with the largest used share at one address; null if nothing is held there. */
export async function fullestBand(
  reader: Reader,
  target: { readonly network: string; readonly address: string },
  token: NetworkToken,
): Promise<BandUse | null> {
  return fullest(await buckets(reader, target.network, token, target.address), token);
}

/**
 * Returns the price with the largest used share of each network, at any of its addresses, so that a shortage is visible
 * before an invoice is rejected. Networks without holds are left out. It reads an index over all live holds, so it is
 * meant for occasional use.
 */
export async function holdUse(reader: Reader, networks: Iterable<Network>): Promise<HoldUse[]> {
  const found: HoldUse[] = [];
  for (const network of networks) {
    const uses: HoldUse[] = [];
    for (const token of network.tokens) {
      const use = fullest(await buckets(reader, network.id, token, null), token);
      if (use !== null) uses.push({ ...use, network: network.id, token });
    }
    const [most] = uses.sort((one, other) => shareOf(other) - shareOf(one));
    if (most !== undefined) found.push(most);
  }
  return found;
}

/** Returns the used share, from 0 to 1. */
export function shareOf({ used, total }: Pick<BandUse, "used" | "total">): number {
  return used / total;
}

/** Counts the holds in each hundredth of a token, in ascending order. */
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

/** Returns the price with the largest used share, counting the amounts up to its largest surcharge. */
function fullest(inOrder: readonly Bucket[], token: AmountToken): BandUse | null {
  let most: BandUse | null = null;
  let end = 0;
  let held = 0;
  for (const bucket of inOrder) {
    const { address, price } = bucket;
    const last = price + amountRange(price, token).cap;
    for (let next = inOrder[end]; next !== undefined; next = inOrder[end]) {
      if (next.address !== address || next.price > last) break;
      held += next.held;
      end += 1;
    }
    const use = useOf(price, token, held);
    if (most === null || shareOf(use) > shareOf(most)) most = use;
    held -= bucket.held;
  }
  return most;
}
