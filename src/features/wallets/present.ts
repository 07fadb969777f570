import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { WalletRecord } from "./records.ts";
import { hasWideGap } from "./rules.ts";
import type { WalletView } from "./store.ts";

export function presentWallet(wallet: WalletView): z.input<typeof WalletRecord> {
  const isXpub = wallet.kind === "xpub";
  return presentRow(WalletRecord, wallet, {
    address: wallet.shownAddress,
    nextIndex: isXpub ? wallet.nextIndex : null,
    highestPaidIndex: isXpub ? wallet.highestPaidIndex : null,
    gapWarning: isXpub && hasWideGap(wallet),
  });
}
