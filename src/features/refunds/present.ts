import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import { notationOf, type Network, type Notation } from "../../platform/chain/networks.ts";
import { RefundRecord } from "./records.ts";
import type { RefundRow } from "./table.ts";

/** A refund with the notation of its network. */
export interface RefundView {
  readonly refund: RefundRow;
  readonly notation: Notation;
}

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
