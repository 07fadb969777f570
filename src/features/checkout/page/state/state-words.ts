import { minute, second } from "../../../../kernel/clock.ts";
import type { ClaimResult } from "../../../payments/index.ts";
import { fill, formatDuration, type Catalogue } from "../catalogue.ts";
import { networkText, tokenText, type Tone } from "../page-words.ts";
import { makeHelp } from "./contact.ts";
import type { CheckoutSession } from "../../present.ts";
import { unsettledResults, type CheckoutNotice, type CheckoutState } from "../../rules.ts";

/** A part of a paragraph. */
export interface Part {
  readonly kind: "text" | "name" | "link" | "reference";
  readonly text: string;
  /** The target of a link. */
  readonly href: string;
}

/** What the page says about a checkout. */
export interface CheckoutWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly (readonly Part[])[];
}

/** The words of a state before their placeholders are filled. */
type Draft = readonly [tone: Tone, headline: string, ...paragraphs: string[]];

/** Returns the payer's text for the session's state: the next step first, and one only. */
export function describeState(session: CheckoutSession, text: Catalogue): CheckoutWords {
  const { invoice } = session;
  const values = {
    merchant: session.merchantDisplayName,
    network: networkText(session),
    token: invoice.tokenSymbol,
    payable: tokenText(session, invoice.payableAmount),
    received: tokenText(session, invoice.receivedAmount),
    remaining: tokenText(session, invoice.remainingAmount),
    excess: tokenText(session, invoice.excessAmount),
    wait: waitText((session.confirmationSeconds ?? 0) * second, text),
  };
  const [tone, headline, ...paragraphs] = draft(session, text);
  const contact = contactParts(session, text);
  return {
    tone,
    headline,
    paragraphs: paragraphs.map((paragraph) =>
      paragraph.split(/(\{contact\}|\{reference\})/).flatMap((piece) => {
        if (piece === "{contact}") return contact;
        if (piece === "{reference}") return [part("reference", invoice.reference)];
        return piece === "" ? [] : [part("text", fill(piece, values))];
      }),
    ),
  };
}

function part(kind: Part["kind"], text: string, href = ""): Part {
  return { kind, text, href };
}

/** Returns the merchant's name with the way to reach the merchant, in parentheses. */
function contactParts(session: CheckoutSession, text: Catalogue): Part[] {
  const { mail, site } = makeHelp(session, text);
  const link = mail ?? site;
  const name = part("name", session.merchantDisplayName);
  if (link === null) return [name];
  return [name, part("text", " ("), part("link", link.label, link.href), part("text", ")")];
}

function draft(session: CheckoutSession, text: Catalogue): Draft {
  const notices = [
    ...session.notices.map((notice) => text[noticeTexts[notice]]),
    ...lastEntered(session, text),
  ];
  const refundOr = (otherwise: string) => refundStep(session, text, otherwise);
  const fallback = session.canRequestRefund ? text.waitOrRefund : text.contactIfLong;
  switch (session.state) {
    case "awaiting":
      return ["asking", text.awaitingHeadline, ...notices, ...sentStep(session, text)];
    case "partly_paid": {
      const next = isLookedFor(session) ? text.lookingLead : text.partlyPaidSent;
      return ["asking", text.partlyPaidHeadline, ...notices, text.partlyPaidLead, next];
    }
    case "confirming":
      return ["working", text.confirmingHeadline, text.confirmingLead, ...notices];
    case "in_review":
      return ["working", text.inReviewHeadline, text.inReviewLead, ...notices, fallback];
    case "late_review":
      return ["careful", text.lateHeadline, text.lateLead, ...notices, fallback];
    case "reverted":
      return ["careful", text.revertedHeadline, text.revertedLead, ...notices, text.revertedNext];
    case "paid":
      return ["done", text.paidHeadline, text.paidLead];
    case "overpaid":
      return ["done", text.overpaidHeadline, text.overpaidLead, ...refundOr(text.overpaidAction)];
    case "paid_late": {
      if (session.nextAction === "none") return ["done", text.paidLateHeadline, text.paidLateLead];
      const { paidLateHeadline, paidLateOverpaidLead } = text;
      return ["done", paidLateHeadline, paidLateOverpaidLead, ...refundOr(text.overpaidAction)];
    }
    case "expired_unpaid": {
      // Payers who have already sent come first.
      const first = refundOr(isLookedFor(session) ? text.lookingLead : text.expiredSent);
      return ["over", text.expiredHeadline, ...notices, ...first, text.expiredLead];
    }
    case "expired_partly_paid": {
      const next = refundOr(text.expiredPartlyNext);
      return ["careful", text.expiredPartlyHeadline, text.expiredPartlyLead, ...notices, ...next];
    }
    case "canceled": {
      const next = refundOr(text.contact);
      return ["over", text.canceledHeadline, text.canceledLead, ...notices, ...next];
    }
    case "canceled_review":
      return ["careful", text.canceledPaidHeadline, text.canceledPaidLead, ...notices, fallback];
    case "cannot_check":
      return cannotCheckDraft(session, text, notices);
  }
}

/** Returns the step of a payer who has already sent, before anything was found. */
function sentStep(session: CheckoutSession, text: Catalogue): string[] {
  if (isLookedFor(session)) return [text.lookingLead];
  if (session.notices.includes("transaction_failed")) return [text.payAgain];
  // Its own text says what to do, as the result of a transaction does.
  if (session.notices.includes("payment_reverted")) return [];
  return lastEntered(session, text).length > 0 ? [] : [text.awaitingLead];
}

/** Whether the transaction that was entered last is still being looked for. */
function isLookedFor({ submittedTransactions: [last] }: CheckoutSession): boolean {
  return last !== undefined && unsettledResults.has(last.result);
}

/** Returns why the transaction that was entered last is not the payment; nothing where the state says what became of it. */
function lastEntered(
  { state, submittedTransactions: [last] }: CheckoutSession,
  text: Catalogue,
): string[] {
  if (last === undefined || !withEntered.has(state) || toldElsewhere.has(last.result)) return [];
  return [`${text.lastEntered} ${text[hashResults[last.result]]}`];
}

/** States in which a transaction that was entered may be what the payer waits for. */
const withEntered: ReadonlySet<CheckoutState> = new Set(["awaiting", "partly_paid"]);

/** Results that the state's own words, its notices or its payments show. */
const toldElsewhere: ReadonlySet<ClaimResult> = new Set([
  ...unsettledResults,
  "failed",
  "counted",
  "in_review",
  "reverted",
]);

/** The payer's text for each result. */
export const hashResults = {
  looking: "hashLooking",
  unknown: "hashUnknown",
  given_up: "hashGivenUp",
  displaced: "hashDisplaced",
  counted: "hashCounted",
  in_review: "hashInReview",
  reverted: "hashReverted",
  failed: "hashFailed",
  other_address: "hashOtherAddress",
  other_token: "hashOtherToken",
  token_disabled: "hashTokenDisabled",
  too_small: "hashTooSmall",
  too_early: "hashTooEarly",
  too_late: "hashTooLate",
  not_for_this: "hashNotForThis",
} as const satisfies Record<ClaimResult, keyof Catalogue>;

function cannotCheckDraft(
  { nextAction }: CheckoutSession,
  text: Catalogue,
  notices: readonly string[],
): Draft {
  const { cannotCheckHeadline, cannotCheckLead } = text;
  switch (nextAction) {
    case "contact_merchant":
      return ["careful", text.notAcceptedHeadline, ...notices, text.notAccepted];
    case "pay":
      return ["careful", cannotCheckHeadline, cannotCheckLead, ...notices, text.cannotCheckOpen];
    default:
      return [
        "careful",
        text.stillCheckingHeadline,
        cannotCheckLead,
        ...notices,
        text.cannotCheckOver,
      ];
  }
}

/**
 * Whether asking for a refund is what the payer does next. While the merchant decides about a payment, waiting is; while
 * something can be paid, paying is.
 */
export function isRefundNext({ canRequestRefund, nextAction, state }: CheckoutSession): boolean {
  if (!canRequestRefund || state === "cannot_check") return false;
  return nextAction === "contact_merchant" || nextAction === "request_new_link";
}

/** Returns the words of the refund's form; without one, another step, unless a refund has been requested. */
function refundStep(session: CheckoutSession, text: Catalogue, otherwise: string): string[] {
  if (isRefundNext(session)) return [text.refundNext];
  const isAsked = session.refunds.some(({ status }) => status !== "rejected");
  return isAsked ? [] : [otherwise];
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
