import type { z } from "zod";
import { tokenAsset } from "../../../kernel/money/asset.ts";
import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money, parseMoneyField } from "../../../kernel/money/money.ts";
import type { Network, NetworkToken } from "../../../platform/chain/networks.ts";
import type { Reader } from "../../../platform/database/database.ts";
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

export interface CapacityService {
  /**
   * Returns a wallet's capacity at the price `amount`, in tokens as decimal text; without it, at the price with the
   * largest used share. Throws a 404 if the wallet does not exist.
   */
  capacity(
    organizationId: Id<"organization">,
    walletId: Id<"wallet">,
    amount?: string,
  ): Promise<WalletCapacity>;
  /**
   * Returns the price with the largest used share of each enabled network. Because that reads all holds, the result may
   * be a minute old, or older if reading is slow: at most one part in five hundred of the time is spent on reading it.
   */
  fullest(): Promise<readonly HoldUse[]>;
}

const fullestForMs = minute;
const fullestRestsFor = 500;

export function makeCapacityService(deps: {
  readonly db: Reader;
  readonly clock: Clock;
  /** The enabled networks. */
  readonly enabled: readonly Network[];
  /** Every configured network by id, including disabled ones. */
  readonly networks: ReadonlyMap<string, Network>;
}): CapacityService {
  const { db, clock, networks, enabled } = deps;
  let known: { readonly uses: Promise<readonly HoldUse[]>; at: Instant; forMs: number } | null =
    null;

  async function readFullest(begun: Instant): Promise<readonly HoldUse[]> {
    try {
      const uses = await holdUse(db, enabled);
      const at = clock.now();
      const forMs = Math.max(fullestForMs, fullestRestsFor * Math.max(0, at - begun));
      if (known !== null) known = { ...known, at, forMs };
      return uses;
    } catch (error) {
      known = null;
      throw error;
    }
  }

  return {
    fullest() {
      const now = clock.now();
      if (known === null || Math.abs(now - known.at) >= known.forMs) {
        known = { uses: readFullest(now), at: now, forMs: Infinity };
      }
      return known.uses;
    },

    async capacity(organizationId, walletId, amount) {
      const wallet = await findWallet(db, organizationId, walletId);
      if (wallet === null) throw notFound();
      const network = networks.get(wallet.network);
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
    },
  };
}

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
