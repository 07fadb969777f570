import * as z from "zod";
import { pageParameters } from "../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  line,
  listRecord,
  presentRow,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { hasWideGap } from "./rules.ts";
import type { DefaultWallets, WalletView } from "./store.ts";

const labelLengthMax = 120;
/** Longer than any address or key, so that text pasted by mistake gets a specific error. */
const pastedLengthMax = 2_000;

const walletStatuses = ["active", "archived"] as const;

export const WalletRecord = responseRecord("Wallet", {
  id: id("wallet"),
  label: z.string(),
  network: z.string(),
  kind: z.enum(["address", "xpub"]),
  address: z.string(),
  status: z.enum(walletStatuses),
  nextIndex: z.int().nullable().meta({
    description:
      "For an extended key, the index from which on no address has been taken or left out by payment links. An invoice may get a lower one: of an earlier invoice that was never paid, or one that payment links leave out.",
  }),
  highestPaidIndex: z.int().nullable().meta({
    description: "For an extended key, the highest index whose address was paid.",
  }),
  gapWarning: z.boolean().meta({
    description:
      "True if more consecutive addresses are unpaid than most wallets scan. Raise the gap limit of your wallet, or it may not show incoming payments.",
  }),
  isDefault: z.boolean().meta({
    description:
      "True if it is the network's default wallet, at which invoices without a `walletId` are paid. An archived wallet stays the default until an owner chooses another one, and receives nothing meanwhile.",
  }),
  reservePosition: z.int().min(1).nullable().meta({
    description:
      "The wallet's turn among the network's reserves, which invoices without a `walletId` try while the default is archived or has no free amount: 1 for the first. Null for every other wallet.",
  }),
  createdAt: datetime(),
  archivedAt: datetime().nullable(),
});
describeFields(WalletRecord, {
  label: "The merchant's name for the wallet.",
  kind: "`address`: one address for all invoices. `xpub`: an extended public key, from which every invoice gets its own address.",
  address: "The address in the network's notation, or the extended key's fingerprint.",
  status:
    "An `archived` wallet receives no new invoices; payments of earlier ones are still detected.",
  archivedAt: "Time when it was archived: ISO 8601, UTC; null while active.",
});

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

/** Returns the part that a wallet has for invoices without a walletId, in words; null: none. */
export function useOf({
  isDefault,
  reservePosition,
}: {
  readonly isDefault: boolean;
  readonly reservePosition: number | null;
}): string | null {
  if (isDefault) return "default";
  return reservePosition === null ? null : `reserve ${String(reservePosition)}`;
}

export const WalletListRecord = listRecord("WalletList", WalletRecord);

/** Filters of the list of wallets. */
export const walletQuery = {
  ...pageParameters,
  network: z
    .string()
    .max(40)
    .optional()
    .meta({ description: "Only wallets on this network, such as `tron`." }),
  status: z.enum(walletStatuses).optional(),
};

const pasted = () =>
  z
    .string()
    .max(pastedLengthMax, { error: `must have at most ${String(pastedLengthMax)} characters` });

export const CreateWalletRequest = requestRecord("CreateWalletRequest", {
  label: line(labelLengthMax),
  network: z.string().min(1).max(40),
  address: pasted().optional().meta({
    description: "A public address on the network. Give either this or `xpub`.",
  }),
  xpub: pasted().optional().meta({
    description: "An account's extended public key, from which every invoice gets its own address.",
  }),
});
describeFields(CreateWalletRequest, {
  label: "A name by which you recognize the wallet.",
  network: "The id of the network on which it receives, such as `tron`.",
});

export type CreateWalletInput = z.output<typeof CreateWalletRequest>;

/** Maximum number of reserves on one network. */
const reservesMax = 20;

export const DefaultWalletRecord = responseRecord("DefaultWallet", {
  network: z.string(),
  walletId: id("wallet").nullable(),
  reserveWalletIds: z.array(id("wallet")),
  canReceive: z.boolean(),
});
describeFields(DefaultWalletRecord, {
  network: "The network's id, such as `tron`.",
  walletId:
    "The wallet at which invoices without a `walletId` are paid, which may be archived; null if none was chosen.",
  reserveWalletIds:
    "The wallets that such invoices try, in this order, while the default is archived or has no free amount.",
  canReceive:
    "True if the default or a reserve is active. If not, invoices without a `walletId` are refused with `no_default_wallet`.",
});

export function presentDefaultWallet({
  network,
  wallets,
}: DefaultWallets): z.input<typeof DefaultWalletRecord> {
  const [first = null, ...reserves] = wallets.map(({ walletId }) => walletId);
  return {
    network,
    walletId: first,
    reserveWalletIds: reserves,
    canReceive: wallets.some(({ status }) => status === "active"),
  };
}

export const DefaultWalletListRecord = responseRecord("DefaultWalletList", {
  data: z.array(DefaultWalletRecord),
});
describeFields(DefaultWalletListRecord, {
  data: "The networks on which the organization has a default or an active wallet, by their ids.",
});

export const SetDefaultWalletRequest = requestRecord("SetDefaultWalletRequest", {
  walletId: id("wallet"),
  reserveWalletIds: z.array(id("wallet")).max(reservesMax).default([]),
});
describeFields(SetDefaultWalletRequest, {
  walletId: "An active wallet of the organization on the network.",
  reserveWalletIds: `Up to ${String(reservesMax)} further active wallets on the network, in the order in which they are tried. Replaces the present reserves; absent: there are no reserves.`,
});

export type SetDefaultWalletInput = z.output<typeof SetDefaultWalletRequest>;
