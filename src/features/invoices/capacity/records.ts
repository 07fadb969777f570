import * as z from "zod";
import { describeFields, id, moneyText, responseRecord } from "../../../http/declare/record.ts";
import { formatMoney, money, tokenAsset } from "../../../kernel/money/money.ts";
import type { NetworkToken } from "../../../platform/chain/networks.ts";
import { hasWideGap, ordinaryGapLimit } from "../../wallets/rules.ts";
import { shareOf, type BandUse, type WalletCapacity } from "./capacity.ts";

const WalletTokenCapacity = responseRecord("WalletTokenCapacity", {
  tokenSymbol: z.string(),
  price: moneyText().nullable().meta({
    description:
      "In tokens: the requested price, or else the one with the largest used share; null if no amount is held.",
  }),
  used: z.int().meta({
    description: "Number of amounts near this price that the address holds for invoices.",
  }),
  free: z.int().nullable().meta({
    description:
      "Number of further invoices of this price that the address can tell apart; null without a price.",
  }),
  usedPercent: z.int(),
});
describeFields(WalletTokenCapacity, {
  usedPercent: "The used share of the amounts near this price, in percent, rounded down.",
});

const WalletAddressCapacity = responseRecord("WalletAddressCapacity", {
  nextIndex: z.int(),
  highestPaidIndex: z.int().nullable(),
  unpaidInARow: z.int().meta({
    description:
      "Number of addresses after the last paid one, up to `nextIndex`, with the addresses that payment links leave to the merchant's own invoices.",
  }),
  gapLimit: z
    .int()
    .meta({ description: "Number of consecutive unpaid addresses that ordinary wallets scan." }),
  gapWarning: z.boolean(),
});
describeFields(WalletAddressCapacity, {
  nextIndex: "The index from which on no address has been taken or left out by payment links.",
  highestPaidIndex: "The highest index whose address was paid; null if none was.",
  gapWarning:
    "True if `unpaidInARow` reaches `gapLimit`: wallets with a lower limit may not show incoming payments.",
});

export const WalletCapacityRecord = responseRecord("WalletCapacity", {
  walletId: id("wallet"),
  network: z.string(),
  kind: z.enum(["address", "xpub"]),
  tokens: z
    .array(WalletTokenCapacity)
    .meta({ description: "The capacity of an address, by token; empty for an extended key." }),
  addresses: WalletAddressCapacity.nullable().meta({
    description: "The addresses of an extended key; null for an address.",
  }),
});
describeFields(WalletCapacityRecord, {
  kind: "`address`: one address for all invoices. `xpub`: an extended public key, from which every invoice gets its own address.",
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
