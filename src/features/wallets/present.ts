import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { WalletRecord, type DefaultWalletRecord } from "./records.ts";
import { hasWideGap } from "./rules.ts";
import type { DefaultWallets, WalletView } from "./store.ts";

export function presentWallet(wallet: WalletView): z.input<typeof WalletRecord> {
  const isXpub = wallet.kind === "xpub";
  return presentRow(WalletRecord, wallet, {
    address: wallet.shownAddress,
    nextIndex: isXpub ? wallet.nextIndex : null,
    highestPaidIndex: isXpub ? wallet.highestPaidIndex : null,
    gapWarning: isXpub && hasWideGap(wallet),
    isDefault: wallet.position === 0,
    reservePosition: wallet.position === 0 ? null : wallet.position,
  });
}

export function presentDefault({
  network,
  places,
}: DefaultWallets): z.input<typeof DefaultWalletRecord> {
  const [first = null, ...reserves] = places.map(({ walletId }) => walletId);
  return {
    network,
    walletId: first,
    reserveWalletIds: reserves,
    canReceive: places.some(({ status }) => status === "active"),
  };
}
