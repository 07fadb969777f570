import { minute, second } from "../../../kernel/clock.ts";
import { parseUrl } from "../../../kernel/url.ts";
import type { ClaimResult } from "../../payments/hash-claims/status.ts";
import { fill, formatDuration, networkText, type Catalogue } from "./catalogue.ts";
import { isZero, shownTime } from "./facts.ts";
import { sumText, tokenText, valuesOf, type Tone } from "./page-words.ts";
import type { CheckoutSession } from "../session.ts";
import { openResults, type CheckoutNotice } from "../rules.ts";

/** A part of a paragraph. */
interface Part {
  readonly kind: "text" | "name" | "link" | "reference" | "time";
  readonly text: string;
  /** The address of a link, or the time in ISO 8601. */
  readonly target: string;
}

/** The words of the page of a checkout. */
export interface CheckoutWords {
  readonly tone: Tone;
  readonly headline: string;
  readonly paragraphs: readonly (readonly Part[])[];
}

/** The words of a state before their placeholders are filled. */
type ToneAndWords = readonly [tone: Tone, headline: string, ...paragraphs: string[]];

/** Returns the payer's text for the session's state: the next step first, and one only. */
export function describeState(session: CheckoutSession, text: Catalogue): CheckoutWords {
  const { invoice } = session;
  const values = {
    ...valuesOf(session),
    payable: tokenText(session, invoice.payableAmount),
    received: tokenText(session, invoice.receivedAmount),
    remaining: tokenText(session, invoice.remainingAmount),
    excess: tokenText(session, invoice.excessAmount),
    arrived: sumText(session.arrivedAmounts),
    refund: refundText(session, "requested"),
    returned: refundText(session, "sent", "confirmed"),
    // Of the payment that can be asked for, which may be on another network.
    refundToken: session.refundable?.tokenSymbol ?? "",
    refundNetwork: session.refundable === null ? "" : networkText(session.refundable),
    wait: waitText((session.confirmationSeconds ?? 0) * second, text),
  };
  const [tone, headline, ...paragraphs] = chooseWords(session, text);
  const contact = contactParts(session, text);
  const checked = session.lastCheckedAt === null ? null : shownTime(session.lastCheckedAt, text);
  return {
    tone,
    headline: fill(headline, values),
    paragraphs: paragraphs.map((paragraph) =>
      paragraph.split(/(\{contact\}|\{reference\}|\{time\})/).flatMap((piece) => {
        if (piece === "{contact}") return contact;
        if (piece === "{reference}") return [part("reference", invoice.reference)];
        if (piece === "{time}" && checked !== null)
          return [part("time", checked.text, checked.iso)];
        return piece === "" ? [] : [part("text", fill(piece, values))];
      }),
    ),
  };
}

/** Returns the sum of the refunds that have one of these statuses. */
function refundText(
  { refunds }: CheckoutSession,
  ...statuses: readonly CheckoutSession["refunds"][number]["status"][]
): string {
  return sumText(refunds.filter(({ status }) => statuses.includes(status)));
}

function part(kind: Part["kind"], text: string, target = ""): Part {
  return { kind, text, target };
}

/** Returns the merchant's name with the way to reach the merchant, in parentheses. */
function contactParts(session: CheckoutSession, text: Catalogue): Part[] {
  const { mail, site } = makeHelp(session, text);
  const link = mail ?? site;
  const name = part("name", session.merchantDisplayName);
  if (link === null) return [name];
  return [name, part("text", " ("), part("link", link.label, link.href), part("text", ")")];
}

function chooseWords(session: CheckoutSession, text: Catalogue): ToneAndWords {
  const { invoice } = session;
  const notices = session.notices.map((notice) => text[noticeTexts[notice]]);
  const refundOr = (...otherwise: string[]) => refundStep(session, text, ...otherwise);
  const waiting = session.canRequestRefund
    ? [text.contactIfLong, text.waitOrRefund]
    : [text.contactOrRefund];
  switch (session.state) {
    case "awaiting":
      return enteredWords(session, text) ?? ["asking", text.awaitingHeadline, text.awaitingLead];
    case "partly_paid": {
      if (isLastSearchedFor(session)) {
        return ["working", text.lookingHeadline, text.partlyArrived, ...searchSteps(session, text)];
      }
      const { partlyPaidHeadline, partlyPaidLead, partlyPaidSent, partlyPaidElse } = text;
      if (session.notices.includes("payment_reverted")) {
        const { partlyPaidGone, goneWait, partlyPaidFailed } = text;
        return ["careful", partlyPaidHeadline, partlyPaidGone, goneWait, partlyPaidFailed];
      }
      return ["asking", partlyPaidHeadline, partlyPaidLead, partlyPaidSent, partlyPaidElse];
    }
    case "confirming":
      // How long it takes is not known while the network cannot be read.
      return notices.length > 0
        ? ["working", text.confirmingHeadline, ...notices]
        : ["working", text.confirmingHeadline, text.confirmingLead];
    case "in_review": {
      const isOther = session.notices.includes("other_amount");
      const headline = isOther ? text.inReviewAmountHeadline : text.inReviewHeadline;
      const why = isOther ? [] : [reviewReason(session, text)];
      return ["working", headline, ...notices, ...why, text.inReviewLead, ...waiting];
    }
    case "late_review":
      return ["careful", text.lateHeadline, text.lateLead, ...notices, ...waiting];
    case "reverted":
      return ["careful", text.revertedHeadline, text.revertedLead, ...notices, text.revertedNext];
    case "paid":
      return ["done", text.paidHeadline, text.paidLead, ...refundOr()];
    case "overpaid":
      // The excess was sent back.
      if (session.nextAction === "none") return ["done", text.paidHeadline, text.paidLead];
      return ["done", text.overpaidHeadline, text.overpaidLead, ...refundOr(text.overpaidAction)];
    case "paid_late": {
      if (isZero(invoice.excessAmount) || session.nextAction === "none") {
        return ["done", text.paidLateHeadline, text.paidLateLead, ...refundOr()];
      }
      const { overpaidHeadline, paidLateOverpaidLead } = text;
      return ["done", overpaidHeadline, paidLateOverpaidLead, ...refundOr(text.overpaidAction)];
    }
    case "expired_unpaid":
      return expiredWords(session, text, notices);
    case "expired_partly_paid": {
      const next = refundOr(text.expiredPartlyNext);
      return ["careful", text.expiredPartlyHeadline, text.expiredPartlyLead, ...notices, ...next];
    }
    case "canceled":
      return canceledWords(session, text, notices);
    case "canceled_review":
      return ["careful", text.canceledPaidHeadline, text.canceledPaidLead, ...notices, ...waiting];
    case "cannot_check":
      return cannotCheckWords(session, text, notices);
  }
}

function canceledWords(
  session: CheckoutSession,
  text: Catalogue,
  notices: readonly string[],
): ToneAndWords {
  const { canceledHeadline, canceledLead, canceledSent, notNeededLead } = text;
  if (isLeftToMerchant(session)) {
    return ["over", canceledHeadline, ...notices, ...leftSteps(text)];
  }
  const lead = isRefundNext(session) ? notNeededLead : canceledLead;
  const next = refundStep(session, text, ...(isMoved(session) ? [] : [canceledSent]));
  return ["over", canceledHeadline, lead, ...notices, ...next];
}

/** Returns the words while nothing was found and there is news of what the payer has sent; null without any. */
function enteredWords(session: CheckoutSession, text: Catalogue): ToneAndWords | null {
  const { notices } = session;
  if (isLastSearchedFor(session))
    return ["working", text.lookingHeadline, ...searchSteps(session, text)];
  if (notices.includes("payment_reverted")) {
    return ["careful", text.goneHeadline, text.goneLead, text.goneWait, text.goneFailed];
  }
  if (notices.includes("transaction_failed")) {
    return ["careful", text.sentFailedHeadline, text.transactionFailed, text.payAgain];
  }
  const refused = refusedSteps(session, text);
  if (refused === null) return null;
  const isMissing = missingResults.has(session.submittedTransactions[0]?.result);
  return ["careful", isMissing ? text.missingHeadline : text.enteredHeadline, ...refused];
}

/** The results of transactions that were looked for without success. */
const missingResults: ReadonlySet<ClaimResult | undefined> = new Set(["given_up", "displaced"]);

/** Returns the words while the transaction that was entered last is looked for. */
function searchSteps({ submittedTransactions: [last] }: CheckoutSession, text: Catalogue) {
  const found = last?.result === "unknown" ? text.hashUnknown : text.lookingLead;
  return [found, text.lookingNext];
}

/** Returns why the merchant decides about a payment in time. */
function reviewReason({ submittedTransactions }: CheckoutSession, text: Catalogue): string {
  const isEntered = submittedTransactions.some(({ result }) => result === "in_review");
  return isEntered ? text.inReviewEntered : text.inReviewByHand;
}

/** Returns why the transaction that was entered last is not the payment, and the next step; null if it may be. */
function refusedSteps({ submittedTransactions: [last] }: CheckoutSession, text: Catalogue) {
  if (last === undefined || toldElsewhere.has(last.result)) return null;
  const result = text[hashResults[last.result]];
  if (missingResults.has(last.result)) return [result, text.missingNext];
  // Some results say themselves whom to contact.
  return result.includes("{contact}") ? [result] : [result, text.enteredNext];
}

/** Returns the words after the time to pay without a payment. */
function expiredWords(
  session: CheckoutSession,
  text: Catalogue,
  notices: readonly string[],
): ToneAndWords {
  if (isMoved(session)) return ["over", text.expiredHeadline, text.paymentMoved];
  if (!isRefundNext(session) && !isLeftToMerchant(session)) {
    const isFailed = session.notices.includes("transaction_failed");
    if (isFailed) return ["over", text.sentFailedHeadline, ...notices, text.newLink];
    if (isLastSearchedFor(session)) {
      const steps = [...searchSteps(session, text), text.lookingOver];
      return ["working", text.lookingHeadline, ...notices, ...steps, ...refundStep(session, text)];
    }
  }
  const returned = returnedHeadline(session, text);
  if (returned !== null) return ["over", returned, ...notices, text.returnedLead];
  return ["over", text.expiredHeadline, ...notices, ...expiredSteps(session, text)];
}

/** Whether the payment that had arrived was moved to another invoice. */
function isMoved({ notices }: CheckoutSession): boolean {
  return notices.includes("payment_moved");
}

/** Returns the headline of an expired payment whose money is sent back; null unless nothing else is owed or asked for. */
function returnedHeadline(
  { nextAction, refunds }: CheckoutSession,
  text: Catalogue,
): string | null {
  const has = (wanted: CheckoutSession["refunds"][number]["status"]) =>
    refunds.some(({ status }) => status === wanted);
  if (has("requested")) return null;
  if (has("sent")) return nextAction === "wait" ? text.returningHeadline : null;
  return has("confirmed") && nextAction === "request_new_link" ? text.returnedHeadline : null;
}

/** Whether money is left over that the payer cannot ask back any more, of an invoice that nothing counts for. */
function isLeftToMerchant({ nextAction, arrivedAmounts }: CheckoutSession): boolean {
  return nextAction === "contact_merchant" && arrivedAmounts.length > 0;
}

/** Returns the words for money that the payer cannot ask back any more. */
function leftSteps(text: Catalogue): string[] {
  return [text.notNeededLead, text.overpaidAction.replaceAll("{excess}", "{arrived}")];
}

/** Returns the steps after the time to pay without a payment: payers who have already sent come first. */
function expiredSteps(session: CheckoutSession, text: Catalogue): string[] {
  if (isRefundNext(session)) return [text.notNeededLead, refundNextText(text)];
  if (isLeftToMerchant(session)) return leftSteps(text);
  const refused = refusedSteps(session, text);
  if (refused !== null) return [...refused, ...refundStep(session, text), text.expiredElse];
  // A payer who waits for money needs no new link.
  if (session.nextAction === "wait") return [...refundStep(session, text), text.expiredElse];
  return [...refundStep(session, text, text.expiredSent), text.expiredLead];
}

/** Whether the transaction that was entered last is not the payment, so that another one may be. */
export function isLastRefused({ submittedTransactions: [last] }: CheckoutSession): boolean {
  return last !== undefined && !toldElsewhere.has(last.result);
}

/** Whether the transaction that was entered last is still being looked for. */
export function isLastSearchedFor({ submittedTransactions: [last] }: CheckoutSession): boolean {
  return last !== undefined && openResults.has(last.result);
}

/** Results that the state's own words, its notices or its payments show. */
const toldElsewhere: ReadonlySet<ClaimResult> = new Set([
  ...openResults,
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

function cannotCheckWords(
  { nextAction, lastCheckedAt, options }: CheckoutSession,
  text: Catalogue,
  notices: readonly string[],
): ToneAndWords {
  const { cannotCheckHeadline, cannotCheckLead } = text;
  const since = lastCheckedAt === null ? [] : [text.cannotCheckSince];
  switch (nextAction) {
    case "contact_merchant":
      return [
        "careful",
        text.notAcceptedHeadline,
        ...notices,
        text.notAccepted,
        text.notAcceptedSent,
        options.length > 0 ? text.notAcceptedOptions : text.notAcceptedElse,
      ];
    case "pay":
      return [
        "careful",
        cannotCheckHeadline,
        ...since,
        cannotCheckLead,
        ...notices,
        text.cannotCheckOpen,
      ];
    default: {
      const { expiredHeadline, cannotCheckOverSent, cannotCheckOver } = text;
      const steps = [cannotCheckOverSent, ...since, ...notices, cannotCheckOver];
      return ["careful", expiredHeadline, ...steps];
    }
  }
}

/**
 * Whether asking for a refund is what the payer does next. While the merchant decides about a payment, waiting is; while
 * something can be paid, paying is.
 */
export function isRefundNext({ nextAction }: CheckoutSession): boolean {
  return nextAction === "request_refund";
}

function refundNextText(text: Catalogue): string {
  return text.refundNext
    .replaceAll("{token}", "{refundToken}")
    .replaceAll("{network}", "{refundNetwork}");
}

/** Returns the words of the refund's form; without one, other steps, unless a refund has been requested. */
function refundStep(session: CheckoutSession, text: Catalogue, ...otherwise: string[]): string[] {
  if (isRefundNext(session)) return [refundNextText(text)];
  if (session.refunds.some(({ status }) => status === "requested")) return [text.refundAsked];
  if (session.refunds.some(({ status }) => status === "sent")) return [];
  if (session.nextAction === "wait") return [text.refundSoon];
  const isAsked = session.refunds.some(({ status }) => status !== "rejected");
  return isAsked ? [] : otherwise;
}

const noticeTexts = {
  payment_reverted: "reverted",
  transaction_failed: "transactionFailed",
  network_delayed: "cannotConfirmNow",
  other_amount: "inReviewAmount",
  payment_moved: "paymentMoved",
} as const satisfies Record<CheckoutNotice, keyof Catalogue>;

/** Returns an expected duration in words. */
function waitText(ms: number, text: Catalogue): string {
  const isShort = Math.round(ms / minute) < 1;
  if (isShort) return text.waitUnderMinute;
  return fill(text.waitAbout, { time: formatDuration(text, Math.max(ms, minute)) });
}

export interface Link {
  readonly href: string;
  readonly label: string;
}

/** Whom to ask about a payment, and the reference by which the merchant finds it. */
export interface HelpModel {
  readonly ask: string;
  readonly reference: string;
  readonly mail: Link | null;
  readonly site: Link | null;
}

export function makeHelp(session: CheckoutSession, text: Catalogue): HelpModel {
  const { merchantDisplayName: merchant, merchantContactEmail: email, invoice } = session;
  const { reference } = invoice;
  const subject = encodeURIComponent(fill(text.mailSubject, { reference }));
  // An address may contain ? and &, which would begin further fields of the mail.
  const addressOf = (given: string) => encodeURIComponent(given).replace("%40", "@");
  return {
    ask: fill(text.askMerchant, { merchant }),
    reference,
    mail:
      email === null
        ? null
        : { href: `mailto:${addressOf(email)}?subject=${subject}`, label: email },
    site: siteOf(session),
  };
}

/** Returns the merchant's site with its host as the label: in punycode, so that no letter looks like another. */
function siteOf({ merchantWebsite }: CheckoutSession): Link | null {
  const url = merchantWebsite === null ? null : parseUrl(merchantWebsite);
  if (url === null || !isWebLink(url.href)) return null;
  return { href: url.href, label: url.host.replace(/^www\./, "") };
}

/** A defense in depth: whatever is stored, a link never runs a script. */
export function isWebLink(href: string): boolean {
  return /^https?:\/\//i.test(href);
}
