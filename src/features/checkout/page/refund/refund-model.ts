import { fill, networkText, type Catalogue } from "../catalogue.ts";
import { amountText, type FormField, type PageNotice } from "../page-words.ts";
import { isRefundNext } from "../state/state-words.ts";
import type { CheckoutSession } from "../../session.ts";

/** The form in which a payer asks for a refund. */
export interface RefundFormModel {
  /** True if it is what the payer does next. */
  readonly isNext: boolean;
  /** The words that open the form. */
  readonly question: string;
  readonly action: string;
  readonly pageToken: string;
  readonly lead: string;
  readonly addressLabel: string;
  readonly isOpen: boolean;
  /** Why the request was refused, the field that is wrong, and what was entered; nulls if none was refused. The hash is filled in already. */
  readonly error: string | null;
  readonly wrongField: FormField | null;
  readonly given: Readonly<Record<FormField, string>>;
}

/** A refund as a sentence. */
export interface RefundModel {
  readonly text: string;
  readonly transactionHash: string | null;
  readonly explorerUrl: string | null;
}

export function makeRefundForm(
  session: CheckoutSession,
  refundable: NonNullable<CheckoutSession["refundable"]>,
  text: Catalogue,
  action: { readonly path: string; readonly pageToken: string },
  refusal: PageNotice | null,
): RefundFormModel {
  const values = { merchant: session.merchantDisplayName, network: networkText(refundable) };
  return {
    isNext: isRefundNext(session),
    question: fill(text.refundAmount, { amount: amountText(refundable) }),
    action: action.path,
    pageToken: action.pageToken,
    lead: fill(text.refundLead, values),
    addressLabel: fill(text.refundAddressLabel, values),
    isOpen: refusal !== null,
    error: refusal?.text ?? null,
    wrongField: refusal?.field ?? null,
    given: refusal?.given ?? {
      transactionHash: refundable.transactionHash,
      address: "",
    },
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
  const amount = amountText(refund);
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
