import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { Defect } from "../../kernel/errors.ts";
import { tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { RefundRecord } from "./records.ts";
import type { RefundRow } from "./table.ts";

/** A refund with its network. */
export interface RefundView {
  readonly refund: RefundRow;
  readonly network: Network;
}

/** Returns the refund as the API and events show it. */
export function presentRefund({ refund, network }: RefundView): z.input<typeof RefundRecord> {
  const { kind } = network;
  const hashText = (hash: string | null) =>
    hash === null ? null : kind.formatTransactionHash(hash);
  const asset = tokenAsset(refund.token, refund.tokenDecimals);
  return presentRow(RefundRecord, refund, {
    requestedBy: refund.source,
    amount: formatMoney(money(refund.amount, asset)),
    tokenSymbol: refund.token,
    address: kind.formatAddress(refund.address),
    fromAddress: kind.formatAddress(refund.fromAddress),
    paymentTransactionHash: kind.formatTransactionHash(refund.paymentHash),
    transactionHash: hashText(refund.transactionHash),
    refusedTransactionHash: hashText(refund.refusedHash),
    objectVersion: refund.version,
  });
}

/** Returns a refund with its network from the table of networks. */
export function viewOf(refund: RefundRow, networks: ReadonlyMap<string, Network>): RefundView {
  const network = networks.get(refund.network);
  if (network === undefined) throw new Defect(`the network ${refund.network} is not configured`);
  return { refund, network };
}
