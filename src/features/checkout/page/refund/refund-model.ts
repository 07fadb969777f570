import { fill, type Catalogue } from "../catalogue.ts";
import { networkText } from "../page-words.ts";
import type { CheckoutSession } from "../../present.ts";

/** The form in which a payer asks for a refund. */
export interface RefundFormModel {
  readonly action: string;
  readonly lead: string;
  readonly addressLabel: string;
  readonly isOpen: boolean;
}

/** A refund as a sentence. */
export interface RefundModel {
  readonly text: string;
  readonly transactionHash: string | null;
  readonly explorerUrl: string | null;
}

export function makeRefundForm(
  session: CheckoutSession,
  text: Catalogue,
  action: string,
  isOpen: boolean,
): RefundFormModel {
  const values = { merchant: session.merchantDisplayName, network: networkText(session) };
  return {
    action,
    lead: fill(text.refundLead, values),
    addressLabel: fill(text.refundAddressLabel, values),
    isOpen,
  };
}

/** An ellipsis at which no line breaks. */
const unbroken = "\u2060…\u2060";

const statusTexts = {
  requested: "refundRequested",
  sent: "refundSent",
  confirmed: "refundConfirmed",
} as const satisfies Partial<Record<CheckoutSession["refunds"][number]["status"], keyof Catalogue>>;

export function makeRefund(
  refund: CheckoutSession["refunds"][number],
  { merchantDisplayName: merchant }: CheckoutSession,
  text: Catalogue,
): RefundModel {
  const { status, address, reason, transactionHash, explorerUrl } = refund;
  const amount = `${refund.amount} ${refund.tokenSymbol}`;
  const words =
    status !== "rejected"
      ? text[statusTexts[status]]
      : reason === null
        ? text.refundWithdrawn
        : text.refundRejected;
  const values = {
    merchant,
    amount,
    address: address.replace("…", unbroken),
    reason: reason ?? "",
  };
  return { text: fill(words, values), transactionHash, explorerUrl };
}
