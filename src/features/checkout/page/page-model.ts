import { second } from "../../../kernel/clock.ts";
import { fill, fillCounted, networkText, type Catalogue } from "./catalogue.ts";
import { testWords } from "./english-only.ts";
import { languageLinks, type LanguageLink } from "./languages.ts";
import { styleSheetFor } from "./assets.ts";
import { progressFacts, receiptFacts, sumFacts, totalText, type Fact } from "./facts.ts";
import { amountText, valuesOf, type FormField, type PageNotice } from "./page-words.ts";
import { makeOptions, makePayment, type OptionsModel, type PaymentModel } from "./payment-model.ts";
import {
  describeState,
  hashResults,
  isLastSearchedFor,
  isRefundNext,
  isLastRefused,
  isWebLink,
  makeHelp,
  type CheckoutWords,
  type HelpModel,
  type Link,
} from "./state-words.ts";
import type { CheckoutSession } from "../session.ts";
import type { CheckoutState } from "../rules.ts";

/** The data of the templates. Everything except the QR codes is text, which they escape. */
export interface PageModel extends CheckoutWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  readonly merchant: string;
  readonly styleSheet: string;
  /** Path of the merchant's logo. */
  readonly logo: string | null;
  /** The first letter or digit of the merchant's name; null if the name has neither. */
  readonly monogram: string | null;
  /** Path of this page; `sessionPath` is the session that the script polls. */
  readonly path: string;
  readonly sessionPath: string;
  /** The stream of the session's versions, and the version that this page shows. */
  readonly eventsPath: string;
  readonly version: string;
  /** Origins that a page in a frame reports its state to, separated by spaces. */
  readonly embedders: string;
  readonly site: Link | null;
  /** The purchase, and the merchant's number of it. */
  readonly purpose: string | null;
  readonly order: string | null;
  readonly help: HelpModel;
  /** Links to this page in the other languages. */
  readonly languages: readonly LanguageLink[];
  readonly state: CheckoutState;
  readonly isTest: boolean;
  /** The test panel; null on real networks. */
  readonly sandbox: { readonly words: typeof testWords; readonly action: string } | null;
  /** Poll interval of the script, in milliseconds. */
  readonly pollMs: number;
  readonly payment: PaymentModel | null;
  /** Other tokens and networks to pay with, while nothing should be sent in that in force; otherwise null. */
  readonly options: OptionsModel | null;
  readonly progress: ProgressModel | null;
  /** The amount that arrived and was not sent back, once the payment is complete; null while it is too much. */
  readonly total: string | null;
  /** The amounts paid, asked for and in excess, once the payment is complete and too much; empty otherwise. */
  readonly sums: readonly Fact[];
  readonly receipt: ReceiptModel | null;
  readonly facts: readonly Fact[];
  readonly transactions: CheckoutSession["transactions"];
  /** Result of the form that was just submitted, unless it stands in the form. */
  readonly notice: PageNotice | null;
  /** Form for a transaction hash; null in states in which a payment was found and nothing is to be paid. */
  readonly hashForm: HashFormModel | null;
  /** Previously submitted transactions with what became of them. */
  readonly submitted: readonly { readonly hash: string; readonly result: string }[];
  /** Form for a refund; null if there is nothing to refund. */
  readonly refundForm: RefundFormModel | null;
  readonly refunds: readonly RefundModel[];
  readonly back: Link | null;
  /** Link that reads the page again; null if its state is final. */
  readonly again: string | null;
}

/**
 * The request that a page answers, as far as it matters for the page. The payment is described by the session alone, and
 * nothing depends on the time: the page is kept until its session changes.
 */
interface PageContext {
  readonly basePath: string;
  readonly text: Catalogue;
  /** `?lang=de` if the payer has chosen the language. */
  readonly languageQuery: string;
  /** Whether the page has a test panel. */
  readonly hasSandbox: boolean;
  readonly notice: PageNotice | null;
  /** The token of the form that asks for a refund. */
  readonly pageToken: string;
  /** Origins whose pages may embed the page. */
  readonly allowedOrigins: readonly string[];
  /** The session's version. */
  readonly version: string;
}

interface HashFormModel {
  readonly question: string;
  readonly action: string;
  readonly lead: string;
  readonly isOpen: boolean;
  /** Why the submitted text was refused; null if none was. */
  readonly error: string | null;
  /** The text that was refused. */
  readonly given: string;
}

interface ProgressModel {
  readonly current: number;
  readonly required: number;
  readonly label: string;
}

interface ReceiptModel {
  readonly facts: readonly Fact[];
  /** The path of the signed receipt. */
  readonly file: string;
}

/** States in which money that the payer has sent may not have been found. */
const hashStates: ReadonlySet<CheckoutState> = new Set([
  "awaiting",
  "partly_paid",
  "expired_unpaid",
  "expired_partly_paid",
  "canceled",
  "cannot_check",
]);

/**
 * Whether a payment that the payer has sent may not have been found. The transaction that waits for the merchant may be
 * another one if somebody with the link submitted its hash.
 */
function mayBeMissing(session: CheckoutSession): boolean {
  const { state, nextAction, submittedTransactions } = session;
  // Nobody looks there for a transaction.
  if (state === "cannot_check" && nextAction === "contact_merchant") return false;
  // A canceled invoice whose payment can be refunded has its payment.
  if (state === "canceled" && isRefundNext(session)) return false;
  return (
    hashStates.has(state) || submittedTransactions.some(({ result }) => result === "in_review")
  );
}

/**
 * Poll intervals of the script. Every response is current, so a change is visible a second after it was stored. A
 * finished payment changes only after a reorganization.
 */
const pollMs = { live: second, finished: 5 * second } as const;

/** Builds the data of a checkout page from its session. */
export function makePageModel(session: CheckoutSession, context: PageContext): PageModel {
  const { basePath, text, languageQuery } = context;
  const page = `${basePath}/pay/${session.id}`;
  const { state, merchantDisplayName: merchant } = session;
  const values = valuesOf(session);
  const words = describeState(session, text);
  const help = makeHelp(session, text);
  const sums = sumFacts(session, text);
  const hasTotal = session.receipt !== null && sums.length === 0;
  const isAsking = session.nextAction === "pay";
  const isFirst = isAsking && words.tone === "asking";
  const choosing = `${page}/option${languageQuery}`;
  const submitted = session.submittedTransactions.map(({ transactionHash, result }) => ({
    hash: transactionHash,
    // The state says in full what the network does not know yet.
    result:
      result === "unknown" && isLastSearchedFor(session)
        ? text.hashLooking
        : fill(text[hashResults[result]], values),
  }));
  return {
    ...words,
    text,
    basePath,
    title: isFirst
      ? fill(text.payTitle, values)
      : fill(text.stateTitle, { ...values, headline: words.headline }),
    merchant,
    styleSheet: styleSheetFor(session.merchantAccentColor),
    logo: session.merchantLogoPath === null ? null : basePath + session.merchantLogoPath,
    monogram: monogramOf(merchant),
    path: page + languageQuery,
    sessionPath: `${basePath}/v1/checkout/${session.id}`,
    eventsPath: `${page}/events`,
    version: context.version,
    embedders: context.allowedOrigins.join(" "),
    site: help.site,
    purpose: session.invoice.description,
    order: session.invoice.externalId,
    help,
    languages: languageLinks(page, text),
    sandbox: context.hasSandbox
      ? { words: testWords, action: `${page}/sandbox${languageQuery}` }
      : null,
    state,
    isTest: session.isTest,
    pollMs: session.receipt === null ? pollMs.live : pollMs.finished,
    payment: isAsking ? makePayment(session, text, choosing, !isFirst) : null,
    options: isAsking ? null : makeOptions(session, choosing),
    progress: state === "confirming" ? makeProgress(session, text) : null,
    total: hasTotal ? totalText(session) : null,
    sums,
    receipt:
      session.receipt === null
        ? null
        : { facts: receiptFacts(session, text), file: `${page}/receipt.txt` },
    facts: session.receipt === null ? progressFacts(session, text) : [],
    transactions: session.transactions,
    ...makeForms(session, context, page),
    submitted,
    refunds: session.refunds.map((refund) => makeRefund(refund, session, text)),
    back: makeBack(session, text),
    again: session.receipt === null ? page + languageQuery : null,
  };
}

/** Returns the forms for a hash and for a refund, and the notice unless it stands in one of them. */
function makeForms(
  session: CheckoutSession,
  { text, languageQuery, notice, pageToken }: PageContext,
  page: string,
): Pick<PageModel, "notice" | "hashForm" | "refundForm"> {
  const { refundable, submittedTransactions } = session;
  const hashRefusal = isWrong(notice, "hash") ? notice : null;
  const refundRefusal = isWrong(notice, "refund") ? notice : null;
  const hasHash = mayBeMissing(session);
  const isInForm = hasHash && hashRefusal !== null;
  return {
    notice: isInForm || (refundable !== null && refundRefusal !== null) ? null : notice,
    hashForm: hasHash
      ? {
          // Without scripts, the browser scrolls to the field and its refusal, and moves the focus there.
          action: `${page}/transactions${languageQuery}#transaction-hash`,
          lead: fill(text.hashLead, { network: networkText(session) }),
          question: submittedTransactions.length > 0 ? text.hashAnother : text.hashQuestion,
          isOpen: hashRefusal !== null || isLastRefused(session),
          error: hashRefusal?.text ?? null,
          given: hashRefusal?.given?.transactionHash ?? "",
        }
      : null,
    refundForm:
      refundable !== null
        ? makeRefundForm(
            session,
            refundable,
            text,
            { path: `${page}/refund${languageQuery}#refund-form`, pageToken },
            refundRefusal,
          )
        : null,
  };
}

/** Whether the payer has sent this form with something wrong. */
function isWrong(notice: PageNotice | null, form: PageNotice["form"]): notice is PageNotice {
  return notice?.isError === true && notice.form === form;
}

function makeProgress({ confirmationProgress }: CheckoutSession, text: Catalogue): ProgressModel {
  const { current, required } = confirmationProgress;
  const counted = { current: String(current), required: String(required) };
  return { current, required, label: fillCounted(text, "confirmationCount", counted) };
}

/** Returns the first letter or digit of a name; null if it has neither. */
export function monogramOf(merchant: string): string | null {
  return /[\p{L}\p{N}]/u.exec(merchant)?.[0].toUpperCase() ?? null;
}

function makeBack(session: CheckoutSession, text: Catalogue): PageModel["back"] {
  const href = session.redirectUrl;
  if (href === null || !isWebLink(href)) return null;
  return { href, label: fill(text.back, { merchant: session.merchantDisplayName }) };
}

/** The form in which a payer asks for a refund. */
interface RefundFormModel {
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
interface RefundModel {
  readonly text: string;
  readonly transactionHash: string | null;
  readonly explorerUrl: string | null;
}

function makeRefundForm(
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

function makeRefund(
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
