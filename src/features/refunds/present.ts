import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import type { Receipt } from "../../platform/chain/client.ts";
import { notationOf, type Network, type Notation } from "../../platform/chain/networks.ts";
import type { Opinion } from "../payments/networks/held.ts";
import { RefundRecord } from "./records.ts";
import type { RefundRefusal } from "./status.ts";
import type { RefundRow } from "./table.ts";

/** A refund with the notation of its network. */
export interface RefundView {
  readonly refund: RefundRow;
  readonly notation: Notation;
}

/** A refund that a contradiction between providers holds, with the opinions of all of them. */
export interface HeldRefund extends RefundView {
  readonly heldSince: Instant;
  /** The transaction of the first provider whose receipt pays the refund. */
  readonly paying: Receipt;
  readonly opinions: readonly { readonly provider: string; readonly opinion: RefundOpinion }[];
}

/** `denies`: the provider has the transaction in the same block, and there it does not pay the refund. */
export type RefundOpinion = Opinion | { readonly denies: RefundRefusal };

/** Returns the refund as the API and events show it. */
export function presentRefund({ refund, notation }: RefundView): z.input<typeof RefundRecord> {
  const hashText = (hash: string | null) =>
    hash === null ? null : notation.formatTransactionHash(hash);
  const asset = tokenAsset(refund.token, refund.tokenDecimals);
  return presentRow(RefundRecord, refund, {
    requestedBy: refund.source,
    amount: formatMoney(money(refund.amount, asset)),
    tokenSymbol: refund.token,
    address: notation.formatAddress(refund.address),
    fromAddress: notation.formatAddress(refund.fromAddress),
    isToSender: refund.address === refund.fromAddress,
    paymentTransactionHash: notation.formatTransactionHash(refund.paymentHash),
    transactionHash: hashText(refund.transactionHash),
    refusedTransactionHash: hashText(refund.refusedHash),
    objectVersion: refund.version,
  });
}

/** Returns a refund with the notation of its network. */
export function viewOf(refund: RefundRow, networks: ReadonlyMap<string, Network>): RefundView {
  return { refund, notation: notationOf(networks, refund.network) };
}

/** Returns a held refund with each provider's opinion as a word. */
export function presentHeld(held: HeldRefund) {
  return {
    ...presentRefund(held),
    blockNumber: held.paying.blockHeight,
    heldSince: toIso(held.heldSince),
    opinions: held.opinions.map(({ provider, opinion }) => {
      if (typeof opinion === "string") return { provider, opinion };
      return { provider, opinion: "denies" in opinion ? opinion.denies : opinion.disagrees };
    }),
  };
}
