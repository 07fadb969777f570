import type { z } from "zod";
import { tokenAsset } from "../../kernel/asset.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { formatMoney, money, parseMoneyField } from "../../kernel/money.ts";
import type { Network, NetworkToken } from "../../platform/chain/networks.ts";
import type { Reader } from "../../platform/database/index.ts";
import { findWallet, hasWideGap, ordinaryGapLimit, type WalletView } from "../wallets/index.ts";
import { bandUse, fullestBand, shareOf, type BandUse } from "./capacity.ts";
import type { WalletCapacityRecord } from "./capacity-records.ts";

/** What a wallet can still tell apart. */
export interface WalletCapacity {
  readonly wallet: WalletView;
  /** Of an address; `use` is null where nothing is held in the token. */
  readonly tokens: readonly { readonly token: NetworkToken; readonly use: BandUse | null }[];
}

export interface CapacityService {
  /** `amount`: the price that is asked about, in tokens as decimal text; else the fullest one. 404. */
  capacity(
    organizationId: Id<"organization">,
    walletId: Id<"wallet">,
    amount?: string,
  ): Promise<WalletCapacity>;
}

export function makeCapacityService(deps: {
  readonly db: Reader;
  /** Every configured network, by id, those that are off too. */
  readonly networks: ReadonlyMap<string, Network>;
}): CapacityService {
  const { db, networks } = deps;
  return {
    async capacity(organizationId, walletId, amount) {
      const wallet = await findWallet(db, organizationId, walletId);
      if (wallet === null) throw notFound();
      const network = networks.get(wallet.network);
      if (network === undefined)
        throw new Defect(`the network ${wallet.network} is not configured`);
      const { address } = wallet;
      if (address === null) return { wallet, tokens: [] };
      const place = { network: network.id, address };
      const tokens = network.tokens.map(async (token) => {
        const asset = tokenAsset(token.symbol, token.decimals);
        const use =
          amount === undefined
            ? await fullestBand(db, place, token)
            : await bandUse(db, place, token, parseMoneyField("?amount", amount, asset).units);
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
    tokens: tokens.map(({ token, use }) => ({
      tokenSymbol: token.symbol,
      price:
        use === null
          ? null
          : formatMoney(money(use.price, tokenAsset(token.symbol, token.decimals))),
      used: use?.used ?? 0,
      free: use === null ? null : use.total - use.used,
      usedPercent: use === null ? 0 : Math.floor(shareOf(use) * 100),
    })),
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
