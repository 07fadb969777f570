import * as z from "zod";
import { pageParameters } from "../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  money,
  moneyText,
  objectVersion,
  paragraph,
  presentRow,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { matchRules } from "../payments/payment-status.ts";
import { refundRefusals, refundSources, refundStatuses, type RefundRefusal } from "./status.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { formatMoney, money as moneyOf, tokenAsset } from "../../kernel/money/money.ts";
import type { Receipt } from "../../platform/chain/client.ts";
import { notationOf, type Network, type Notation } from "../../platform/chain/networks.ts";
import type { Opinion } from "../payments/networks/held.ts";
import type { RefundRow } from "./store.ts";

const reasonLengthMax = 500;
const addressLengthMax = 200;
const hashLengthMax = 2_048;

const shownHash = "In the notation of the network's explorers.";

export const RefundRecord = responseRecord("Refund", {
  id: id("refund"),
  invoiceId: id("invoice"),
  paymentId: id("payment"),
  status: z.enum(refundStatuses).meta({
    description:
      "`requested` waits for the merchant. `sent`: the merchant named a transaction, which Till has not verified yet. `confirmed`: the transaction is final and pays the refund. `rejected`: it will not be sent.",
  }),
  requestedBy: z.enum(refundSources).meta({
    description:
      "`payer`: by somebody with the link to the checkout and the payment's transaction hash, which is public. Look at `isToSender`, and ask your customer if in doubt.",
  }),
  amount: moneyText(),
  tokenSymbol: z.string(),
  network: z.string(),
  address: z.string().meta({ description: "The recipient, in the network's notation." }),
  fromAddress: z.string().meta({
    description: "The address that sent the payment. That of an exchange cannot take a refund.",
  }),
  isToSender: z.boolean().meta({
    description:
      "True if `address` is `fromAddress`. Compare them by this, and not by eye: an address that begins and ends like another one can be made.",
  }),
  paymentTransactionHash: z.string().meta({ description: shownHash }),
  paymentRule: z.enum(matchRules).meta({
    description:
      "Why the payment was assigned to the invoice. `submitted_hash`: somebody with the link to the checkout named its transaction, which may be somebody else's.",
  }),
  transactionHash: z.string().nullable().meta({
    description: "The transaction that pays it, while it is `sent` or `confirmed`.",
  }),
  refusal: z.enum(refundRefusals).nullable().meta({
    description:
      "Why `refusedTransactionHash`, or while the refund is `sent` its transaction as far as it was read, does not prove the refund: it is `unknown` to the network or `failed`, pays an `other_recipient` or in an `other_token`, comes from an `other_sender` than the organization's wallets, is `too_small`, older than the payment (`too_early`) or `reverted` by a reorganization. Before you send again, make sure that the refused transaction can no longer be mined. `surplus_gone`: Till rejected the refund, because the invoice needs the payment, another refund took the money, or a reorganization removed it.",
  }),
  refusedTransactionHash: z.string().nullable().meta({
    description: "The transaction that was refused last.",
  }),
  reason: z.string().nullable().meta({
    description: "The merchant's reason for rejecting it. The payer sees it.",
  }),
  createdAt: datetime(),
  updatedAt: datetime(),
  sentAt: datetime().nullable(),
  confirmedAt: datetime().nullable(),
  objectVersion: objectVersion(),
});
describeFields(RefundRecord, {
  amount: "The amount to send back: a decimal string in tokens.",
  sentAt: "Time when the merchant named the transaction: ISO 8601, UTC; null until then.",
  confirmedAt: "Time when the transaction was final: ISO 8601, UTC; null until then.",
});

export const RefundListRecord = listRecord("RefundList", RefundRecord);

/** The filters of an organization's refunds. */
export const refundQuery = {
  ...pageParameters,
  status: z.enum(refundStatuses).optional(),
  invoiceId: id("invoice").optional(),
  paymentId: id("payment").optional(),
};

/** An address as people paste it; the function parses it for the payment's network. */
export const refundAddress = () => z.string().min(1).max(addressLengthMax);

export const refundHash = () => z.string().min(1).max(hashLengthMax);

export const CreateRefundRequest = requestRecord("CreateRefundRequest", {
  paymentId: id("payment"),
  amount: money().meta({ description: "In the payment's token; at most its surplus." }),
  address: refundAddress().meta({
    description: "The recipient, on the payment's network. Not the address of an exchange.",
  }),
});
export type CreateRefundInput = z.output<typeof CreateRefundRequest>;

export const SendRefundRequest = requestRecord("SendRefundRequest", {
  transactionHash: refundHash().meta({
    description: "As a block explorer shows it, or a link to it.",
  }),
});

export const RejectRefundRequest = requestRecord("RejectRefundRequest", {
  reason: paragraph(reasonLengthMax).meta({ description: "The payer sees it." }),
});

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
    amount: formatMoney(moneyOf(refund.amount, asset)),
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
