import { subtract } from "../../../kernel/money/money.ts";
import { fill, type Catalogue } from "./catalogue.ts";
import { amountText, networkText } from "../present.ts";
import { hasReview, isLagging, isPayable, type CheckoutState } from "../rules.ts";
import type { CheckoutPageView } from "../service.ts";

/** Appearance of a state. Each tone has its own icon, so that color is never the only signal. */
export type Tone = "asking" | "working" | "done" | "careful" | "over";

export interface StateWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly string[];
}

/** Returns the payer's text for a state, with the next step. */
export function describeState(
  view: CheckoutPageView,
  state: CheckoutState,
  text: Catalogue,
): StateWords {
  const { invoice, network, merchantName: merchant } = view;
  const say = (words: string): string =>
    fill(words, {
      merchant,
      network: networkText(network),
      payable: amountText(invoice.payable),
      received: amountText(invoice.received),
      remaining: amountText(invoice.remaining),
    });
  const words = (tone: Tone, headline: string, ...paragraphs: string[]): StateWords => ({
    tone,
    headline,
    paragraphs: paragraphs.map(say),
  });
  const { contact } = text;
  const news = newsOf(view, text);
  switch (state) {
    case "awaiting":
      return words("asking", text.awaitingHeadline, ...news, text.awaitingLead);
    case "partly_paid":
      return words("asking", text.partlyPaidHeadline, ...news, text.partlyPaidLead);
    case "confirming": {
      const lead = fill(text.confirmingLead, { wait: waitText(view, text) });
      const lag = isLagging(network, view.networkState, view.at) ? [text.cannotConfirmNow] : [];
      return words("working", text.confirmingHeadline, lead, ...lag);
    }
    case "paid":
      return words("done", text.paidHeadline, text.paidLead);
    case "overpaid": {
      const excess = fill(text.overpaidLead, { excess: excessText(view) });
      return words("done", text.overpaidHeadline, excess, text.overpaidAction);
    }
    case "paid_late":
      return invoice.status === "paid"
        ? words("done", text.paidLateHeadline, text.paidLateLead)
        : words("careful", text.lateHeadline, text.lateLead, contact);
    case "expired_unpaid":
      return words("over", text.expiredHeadline, text.expiredLead, ...news, text.expiredSent);
    case "expired_partly_paid":
      return words("careful", text.expiredPartlyHeadline, text.expiredPartlyLead, ...news, contact);
    case "canceled":
      if (hasReview(view)) {
        return words("careful", text.canceledPaidHeadline, text.canceledPaidLead, contact);
      }
      return words("over", text.canceledHeadline, text.canceledLead, ...news, contact);
    case "cannot_check": {
      const next = isPayable(invoice, view.at) ? text.cannotCheckOpen : text.cannotCheckOver;
      return words("careful", text.cannotCheckHeadline, text.cannotCheckLead, ...news, next);
    }
  }
}

/** Additional notes: why money is requested again, or why a payment does not count yet. */
function newsOf(view: CheckoutPageView, text: Catalogue): string[] {
  return [
    ...(view.invoice.exception === "reverted" ? [text.reverted] : []),
    ...(hasReview(view) ? [text.inReview] : []),
  ];
}

/** Returns the overpaid amount: `0.50 USDT`. */
export function excessText({ invoice }: CheckoutPageView): string {
  return amountText(subtract(invoice.received, invoice.asked));
}

/** Returns the expected time for the missing confirmations, in words. */
function waitText({ invoice, network }: CheckoutPageView, text: Catalogue): string {
  const { current, required } = invoice.confirmations;
  const minutes = Math.round((Math.max(0, required - current) * network.blockTimeMs) / 60_000);
  if (minutes < 1) return text.waitUnderMinute;
  if (minutes === 1) return text.waitOneMinute;
  return fill(text.waitMinutes, { n: String(minutes) });
}
