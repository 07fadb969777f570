import { minute, second } from "../../../kernel/clock.ts";
import { fill, formatDuration, type Catalogue } from "./catalogue.ts";
import type { CheckoutSession } from "../present.ts";
import type { CheckoutNotice } from "../rules.ts";

/** Appearance of a state. Each tone has its own icon, so that color is never the only signal. */
export type Tone = "asking" | "working" | "done" | "careful" | "over";

export interface StateWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly string[];
}

/** Returns an amount of the invoice's token with its symbol: `25.0001 USDT`. */
export function tokenText({ invoice }: CheckoutSession, amount: string): string {
  return `${amount} ${invoice.tokenSymbol}`;
}

/** Returns `TRON (TRC-20)`: the network always appears with its token standard. */
export function networkText({ networkTitle, tokenStandard }: CheckoutSession): string {
  return `${networkTitle} (${tokenStandard})`;
}

/** Returns the payer's text for the session's state, with the next step. */
export function describeState(session: CheckoutSession, text: Catalogue): StateWords {
  const { invoice, nextAction } = session;
  const values = {
    merchant: session.merchantDisplayName,
    network: networkText(session),
    payable: tokenText(session, invoice.payableAmount),
    received: tokenText(session, invoice.receivedAmount),
    remaining: tokenText(session, invoice.remainingAmount),
    excess: tokenText(session, invoice.excessAmount),
    wait: waitText((session.confirmationSeconds ?? 0) * second, text),
  };
  const words = (tone: Tone, headline: string, ...paragraphs: string[]): StateWords => ({
    tone,
    headline,
    paragraphs: paragraphs.map((paragraph) => fill(paragraph, values)),
  });
  // One instruction: a payer who can ask for the refund on the page, or has asked, need not write to the merchant too.
  const isAsked = session.refunds.some(({ status }) => status !== "rejected");
  const unlessRefund = (paragraph: string) => (session.canRequestRefund ? [] : [paragraph]);
  const contactIfLong = unlessRefund(text.contactIfLong);
  const refund = isAsked ? [] : unlessRefund(text.overpaidAction);
  const notices = session.notices.map((notice) => text[noticeTexts[notice]]);
  switch (session.state) {
    case "awaiting":
      return words("asking", text.awaitingHeadline, ...notices, text.awaitingLead);
    case "partly_paid":
      return words(
        "asking",
        text.partlyPaidHeadline,
        ...notices,
        text.partlyPaidLead,
        text.partlyPaidSent,
      );
    case "confirming":
      return words("working", text.confirmingHeadline, text.confirmingLead, ...notices);
    case "in_review":
      return words(
        "working",
        text.inReviewHeadline,
        text.inReviewLead,
        ...notices,
        ...contactIfLong,
      );
    case "late_review":
      return words("careful", text.lateHeadline, text.lateLead, ...notices, ...contactIfLong);
    case "reverted":
      return words(
        "careful",
        text.revertedHeadline,
        text.revertedLead,
        ...notices,
        text.revertedNext,
      );
    case "paid":
      return words("done", text.paidHeadline, text.paidLead);
    case "overpaid":
      return words("done", text.overpaidHeadline, text.overpaidLead, ...refund);
    case "paid_late":
      return nextAction === "none"
        ? words("done", text.paidLateHeadline, text.paidLateLead)
        : words("done", text.paidLateHeadline, text.paidLateOverpaidLead, ...refund);
    case "expired_unpaid":
      // Payers who have already sent come first.
      return words("over", text.expiredHeadline, ...notices, text.expiredSent, text.expiredLead);
    case "expired_partly_paid":
      return words(
        "careful",
        text.expiredPartlyHeadline,
        text.expiredPartlyLead,
        ...notices,
        ...unlessRefund(text.expiredPartlyNext),
      );
    case "canceled":
      return words(
        "over",
        text.canceledHeadline,
        text.canceledLead,
        ...notices,
        ...unlessRefund(text.contact),
      );
    case "canceled_review":
      return words(
        "careful",
        text.canceledPaidHeadline,
        text.canceledPaidLead,
        ...notices,
        ...contactIfLong,
      );
    case "cannot_check": {
      if (nextAction === "contact_merchant") {
        return words("careful", text.cannotCheckHeadline, ...notices, text.notAccepted);
      }
      const next = nextAction === "pay" ? text.cannotCheckOpen : text.cannotCheckOver;
      return words("careful", text.cannotCheckHeadline, text.cannotCheckLead, ...notices, next);
    }
  }
}

const noticeTexts = {
  payment_reverted: "reverted",
  transaction_failed: "transactionFailed",
  network_delayed: "cannotConfirmNow",
} as const satisfies Record<CheckoutNotice, keyof Catalogue>;

/** Returns an expected duration in words. */
function waitText(ms: number, text: Catalogue): string {
  const isShort = Math.round(ms / minute) < 1;
  if (isShort) return text.waitUnderMinute;
  return fill(text.waitAbout, { time: formatDuration(text, Math.max(ms, minute)) });
}
