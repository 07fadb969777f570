import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { settlementAsset, tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { confirmationsOf } from "../../platform/chain/state/network-state.ts";
import { isVerified } from "./ledger/payment-rules.ts";
import { PaymentRecord } from "./records.ts";
import type { PaymentRow, TransferRow } from "./table.ts";

/** A payment with the data needed to present it. */
export interface PaymentView {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  readonly network: Network;
  /** The newest scanned block of the network. */
  readonly tipHeight: number;
}

/** Returns the payment as the API and events show it. */
export function presentPayment(view: PaymentView): z.input<typeof PaymentRecord> {
  const { payment, transfer, network, tipHeight } = view;
  const { kind } = network;
  const isOnChain = transfer.status === "seen";
  const token = tokenAsset(payment.token, payment.tokenDecimals);
  const settlement = settlementAsset(payment.settlementCurrency, payment.settlementDecimals);
  return presentRow(PaymentRecord, payment, {
    tokenSymbol: payment.token,
    transactionHash: kind.formatTransactionHash(transfer.transactionHash),
    logIndex: transfer.logIndex,
    fromAddress: kind.formatAddress(transfer.fromAddress),
    toAddress: kind.formatAddress(transfer.toAddress),
    amount: formatMoney(money(payment.amount, token)),
    settlementAmount: formatMoney(money(payment.settlementAmount, settlement)),
    blockNumber: payment.blockHeight,
    isVerified: isVerified(payment, transfer),
    objectVersion: payment.version,
    confirmations: isOnChain ? confirmationsOf(tipHeight, payment.blockHeight) : 0,
  });
}
