import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { settlementAsset, tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import type { Notation } from "../../platform/chain/networks.ts";
import { confirmationsOf } from "../../platform/chain/state/network-state.ts";
import { isVerified } from "./ledger/payment-rules.ts";
import { PaymentRecord } from "./records.ts";
import type { PaymentRow, TransferRow } from "./table.ts";

/** A payment with the data needed to present it. */
export interface PaymentView {
  readonly payment: PaymentRow;
  readonly transfer: TransferRow;
  readonly notation: Notation;
  /** The newest scanned block of the network. */
  readonly tipHeight: number;
}

/** Returns the payment as the API and events show it. */
export function presentPayment(view: PaymentView): z.input<typeof PaymentRecord> {
  const { payment, transfer, notation, tipHeight } = view;
  const isOnChain = transfer.status === "seen";
  const token = tokenAsset(payment.token, payment.tokenDecimals);
  const settlement = settlementAsset(payment.settlementCurrency, payment.settlementDecimals);
  return presentRow(PaymentRecord, payment, {
    tokenSymbol: payment.token,
    transactionHash: notation.formatTransactionHash(transfer.transactionHash),
    logIndex: transfer.logIndex,
    fromAddress: notation.formatAddress(transfer.fromAddress),
    toAddress: notation.formatAddress(transfer.toAddress),
    amount: formatMoney(money(payment.amount, token)),
    roundingAmount: formatMoney(money(payment.roundingAmount, token)),
    settlementAmount: formatMoney(money(payment.settlementAmount, settlement)),
    blockNumber: payment.blockHeight,
    isVerified: isVerified(payment, transfer),
    objectVersion: payment.version,
    confirmations: isOnChain ? confirmationsOf(tipHeight, payment.blockHeight) : 0,
  });
}
