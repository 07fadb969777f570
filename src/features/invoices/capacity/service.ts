import type { z } from "zod";
import { perApp, type App } from "../../../app.ts";
import { tokenAsset } from "../../../kernel/money/asset.ts";
import { minute, type Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money, parseMoneyField } from "../../../kernel/money/money.ts";
import type { NetworkToken } from "../../../platform/chain/networks.ts";
import { findWallet, type WalletView } from "../../wallets/store.ts";
import { hasWideGap, ordinaryGapLimit } from "../../wallets/rules.ts";
import { bandUse, fullestBand, holdUse, shareOf, type BandUse, type HoldUse } from "./rules.ts";
import type { WalletCapacityRecord } from "./records.ts";

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
  const place = { network: network.id, address };
  const tokens = network.tokens.map(async (token) => {
    const asset = tokenAsset(token.symbol, token.decimals);
    const use =
      amount === undefined
        ? await fullestBand(db, place, token)
        : await bandUse(
            db,
            place,
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

export function presentCapacity({
  wallet,
  tokens,
}: WalletCapacity): z.input<typeof WalletCapacityRecord> {
  const { nextIndex, highestPaidIndex } = wallet;
  return {
    walletId: wallet.id,
    network: wallet.network,
    kind: wallet.kind,
    tokens: tokens.map(({ token, use }) => presentUse(token, use)),
    addresses:
      wallet.kind === "address"
        ? null
        : {
            nextIndex,
            highestPaidIndex,
            unpaidInARow: nextIndex - ((highestPaidIndex ?? -1) + 1),
            gapLimit: ordinaryGapLimit,
            gapWarning: hasWideGap(wallet),
          },
  };
}

/** `use` is null if no amount of the token is held. */
export function presentUse(
  { symbol, decimals }: NetworkToken,
  use: BandUse | null,
): z.input<typeof WalletCapacityRecord>["tokens"][number] {
  return {
    tokenSymbol: symbol,
    price: use === null ? null : formatMoney(money(use.price, tokenAsset(symbol, decimals))),
    used: use?.used ?? 0,
    free: use === null ? null : use.total - use.used,
    usedPercent: use === null ? 0 : Math.floor(shareOf(use) * 100),
  };
}
