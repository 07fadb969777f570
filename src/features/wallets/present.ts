import type { z } from "zod";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import type { WalletRecord } from "./records.ts";
import { hasWideGap } from "./rules.ts";
import type { WalletView } from "./store.ts";

export function presentWallet(wallet: WalletView): z.input<typeof WalletRecord> {
  const isXpub = wallet.kind === "xpub";
  return {
    id: wallet.id,
    label: wallet.label,
    network: wallet.network,
    kind: wallet.kind,
    address: wallet.shownAddress,
    status: wallet.status,
    nextIndex: isXpub ? wallet.nextIndex : null,
    highestPaidIndex: isXpub ? wallet.highestPaidIndex : null,
    gapWarning: isXpub && hasWideGap(wallet),
    createdAt: toIso(wallet.createdAt),
    archivedAt: toIsoOrNull(wallet.archivedAt),
  };
}
