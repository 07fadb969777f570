import { minute, second, toIso, type Instant } from "../../kernel/clock.ts";
import { formatMoney, type Money } from "../../kernel/money.ts";
import { transactionLink } from "../../platform/chain/networks.ts";
import { formatTransactionHash } from "../../platform/chain/transaction-hash.ts";
import type { ClaimResult } from "../payments/index.ts";
import { fill, formatTime, type Catalogue } from "./catalogue.ts";
import { describeState, excessText, type StateWords } from "./page-words.ts";
import { amountText, networkText, transactionsOf } from "./present.ts";
import { drawCode } from "./qr.ts";
import { isOverpaid, isPayable, stateOf, type CheckoutState } from "./rules.ts";
import type { CheckoutPageView } from "./service.ts";

/** All that the templates put out. Everything but the codes is text, which they escape. */
export interface PageModel extends StateWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  readonly merchant: string;
  /** This page's own path, and that of the session which the script watches. */
  readonly path: string;
  readonly sessionPath: string;
  readonly state: CheckoutState;
  readonly isTest: boolean;
  readonly hasSandbox: boolean;
  /** The server's clock when it was made, by which the script counts down. */
  readonly at: Instant;
  /** How often the script looks again. */
  readonly pollMs: number;
  readonly payment: PaymentModel | null;
  readonly progress: ProgressModel | null;
  readonly receipt: ReceiptModel | null;
  readonly facts: readonly Fact[];
  readonly transactions: readonly TransactionModel[];
  /** What became of the form that was just sent. */
  readonly notice: PageNotice | null;
  /** Where a payer tells of a transaction; null where nothing is missing. */
  readonly hashForm: HashFormModel | null;
  readonly back: { readonly href: string; readonly label: string } | null;
}

export interface PageNotice {
  readonly isError: boolean;
  readonly text: string;
}

interface HashFormModel {
  readonly action: string;
  readonly lead: string;
  /** The transactions that were sent before, and what became of each. */
  readonly submitted: readonly { readonly hash: string; readonly result: string }[];
  readonly isOpen: boolean;
  /** What was sent is to be corrected. */
  readonly isInvalid: boolean;
}

/** A moment, for people and for the script. */
interface ShownTime {
  readonly iso: string;
  readonly text: string;
}

interface Fact {
  readonly label: string;
  readonly value: string;
  /** Where the value is a moment. */
  readonly time: ShownTime | null;
}

interface TransactionModel {
  readonly hash: string;
  /** The explorer's page; null where the network has none. */
  readonly link: string | null;
}

interface CodeModel {
  readonly svg: string;
  readonly label: string;
  readonly hint: string;
}

interface PaymentModel {
  readonly label: string;
  /** Together the digits that are copied; the second are those that people leave out when they round. */
  readonly amount: readonly [string, string];
  readonly symbol: string;
  readonly network: string;
  /** What it is worth in the currency of the invoice; null where that is the token itself. */
  readonly asks: string | null;
  readonly addressLabel: string;
  /** Together the address; its ends are what people compare. */
  readonly address: readonly [string, string, string];
  /** Opens a wallet on the same device; null where wallets of the network know no such link. */
  readonly walletLink: string | null;
  readonly code: CodeModel;
  /** The bare address as a code, where the other holds more. */
  readonly addressCode: CodeModel | null;
  readonly rules: readonly string[];
  readonly expires: ShownTime;
}

interface ProgressModel {
  readonly current: number;
  readonly required: number;
  readonly label: string;
}

interface ReceiptModel {
  readonly facts: readonly Fact[];
}

/** Where a payment may have been sent that does not show. */
const hashStates: ReadonlySet<CheckoutState> = new Set([
  "awaiting",
  "partly_paid",
  "expired_unpaid",
  "expired_partly_paid",
  "canceled",
  "cannot_check",
]);

/** How often the script looks: while something may come, on the test network, and after the end. */
const pollMs = { open: 5 * second, test: 1.5 * second, over: minute / 2 } as const;

/** The page of a checkout as the templates need it. */
export async function makePageModel(
  view: CheckoutPageView,
  basePath: string,
  text: Catalogue,
  notice: PageNotice | null = null,
): Promise<PageModel> {
  const { invoice, network, merchantName: merchant } = view;
  const state = stateOf(view, view.at);
  const words = describeState(view, state, text);
  const isAsking = isPayable(invoice, view.at);
  const title = isAsking
    ? fill(text.payTitle, { amount: amountText(invoice.remaining), merchant })
    : fill(text.stateTitle, { headline: words.headline, merchant });
  return {
    ...words,
    text,
    basePath,
    title,
    merchant,
    path: `${basePath}/pay/${invoice.checkoutId}`,
    sessionPath: `${basePath}/v1/checkout/${invoice.checkoutId}`,
    state,
    isTest: network.isTest,
    hasSandbox: view.hasSandbox,
    at: view.at,
    pollMs: pollOf(view),
    payment: isAsking ? await makePayment(view, text) : null,
    progress: state === "confirming" ? makeProgress(view, text) : null,
    receipt: invoice.status === "paid" ? { facts: receiptFacts(view, text) } : null,
    facts: invoice.status === "paid" ? [] : facts(view, state, text),
    transactions: makeTransactions(view),
    notice,
    hashForm: hashStates.has(state) ? makeHashForm(view, basePath, text, notice) : null,
    back: makeBack(view, text),
  };
}

function pollOf({ invoice, network }: CheckoutPageView): number {
  if (network.isTest) return pollMs.test;
  const isOver = ["paid", "expired", "canceled"].includes(invoice.status);
  return isOver ? pollMs.over : pollMs.open;
}

async function makePayment(view: CheckoutPageView, text: Catalogue): Promise<PaymentModel> {
  const { invoice, network } = view;
  const { walletAddress: address } = invoice;
  const { asset } = invoice.payable;
  const named = {
    amount: amountText(invoice.remaining),
    network: networkText(network),
    token: asset.code,
    address,
  };
  const holds = view.qrCode;
  const isBare = holds === address;
  const addressCode: CodeModel = {
    svg: await drawCode(address),
    label: fill(text.qrAddressLabel, named),
    hint: fill(text.scanAddress, named),
  };
  const fullCode: CodeModel | null = isBare
    ? null
    : {
        svg: await drawCode(holds),
        label: fill(text.qrLabel, named),
        hint: fill(text.scanAll, named),
      };
  const isWhole = invoice.remaining.units === invoice.payable.units;
  return {
    label: isWhole ? text.amountToPay : text.stillToPay,
    amount: splitAmount(invoice.remaining),
    symbol: asset.code,
    network: fill(text.onNetwork, named),
    asks:
      isWhole && invoice.amount.asset.code !== asset.code
        ? fill(text.asks, { amount: amountText(invoice.amount) })
        : null,
    addressLabel: fill(text.addressOn, named),
    address: [address.slice(0, 6), address.slice(6, -6), address.slice(-6)],
    // No wallet knows the test network.
    walletLink: isBare || network.isTest ? null : holds,
    code: fullCode ?? addressCode,
    addressCode: fullCode === null ? null : addressCode,
    rules: [
      fill(text.arrives, named),
      fill(text.onlyHere, named),
      ...(network.isTest ? [] : [fill(text.ownCoin, { network: network.title })]),
    ],
    expires: shownTime(invoice.expiresAt, text),
  };
}

function splitAmount(amount: Money): readonly [string, string] {
  const digits = formatMoney(amount);
  const point = digits.indexOf(".");
  const usual = point < 0 ? digits.length : point + 1 + amount.asset.displayDecimals;
  return [digits.slice(0, usual), digits.slice(usual)];
}

function makeProgress({ invoice }: CheckoutPageView, text: Catalogue): ProgressModel {
  const { current, required } = invoice.confirmations;
  const counted = { current: String(current), required: String(required) };
  return { current, required, label: fill(text.confirmationCount, counted) };
}

function shownTime(at: Instant, text: Catalogue): ShownTime {
  return { iso: toIso(at), text: formatTime(text, at) };
}

function fact(label: string, value: string): Fact {
  return { label, value, time: null };
}

function timeFact(label: string, at: Instant, text: Catalogue): Fact {
  const time = shownTime(at, text);
  return { label, value: time.text, time };
}

function askedText({ invoice }: CheckoutPageView): string {
  const { amount, payable } = invoice;
  if (amount.asset.code === payable.asset.code) return amountText(payable);
  return `${amountText(payable)} (${amountText(amount)})`;
}

/** What is said below a state that is not the end of a payment. */
function facts(view: CheckoutPageView, state: CheckoutState, text: Catalogue): Fact[] {
  const { invoice, network, networkState } = view;
  const isOver = invoice.status === "expired";
  return [
    ...(state === "cannot_check"
      ? [
          networkState === null
            ? fact(text.lastChecked, text.never)
            : timeFact(text.lastChecked, networkState.tipTime, text),
        ]
      : []),
    fact(text.asked, askedText(view)),
    ...(invoice.received.units > 0n ? [fact(text.received, amountText(invoice.received))] : []),
    fact(text.network, networkText(network)),
    ...(state === "confirming" || state === "canceled"
      ? []
      : [timeFact(isOver ? text.expired : text.expires, invoice.expiresAt, text)]),
    fact(text.reference, invoice.publicId),
  ];
}

function receiptFacts(view: CheckoutPageView, text: Catalogue): Fact[] {
  const { invoice, network, merchantName } = view;
  return [
    fact(text.merchant, merchantName),
    fact(text.asked, askedText(view)),
    fact(text.received, amountText(invoice.received)),
    ...(isOverpaid(invoice) ? [fact(text.excess, excessText(view))] : []),
    fact(text.network, networkText(network)),
    ...(invoice.paidAt === null ? [] : [timeFact(text.paidAt, invoice.paidAt, text)]),
    fact(text.reference, invoice.publicId),
  ];
}

function makeTransactions(view: CheckoutPageView): TransactionModel[] {
  const { network } = view;
  return transactionsOf(view).map((hash) => ({
    hash: formatTransactionHash(network.addressForm, hash),
    link: transactionLink(network, hash),
  }));
}

/** The text that the payer is shown for each result. */
const hashResults = {
  looking: "hashLooking",
  unknown: "hashUnknown",
  given_up: "hashGivenUp",
  displaced: "hashDisplaced",
  counted: "hashCounted",
  in_review: "hashInReview",
  not_for_this: "hashNotForThis",
} as const satisfies Record<ClaimResult, keyof Catalogue>;

function makeHashForm(
  { invoice, network, merchantName: merchant, submitted }: CheckoutPageView,
  basePath: string,
  text: Catalogue,
  notice: PageNotice | null,
): HashFormModel {
  return {
    action: `${basePath}/pay/${invoice.checkoutId}/transactions`,
    lead: fill(text.hashLead, { network: networkText(network) }),
    submitted: submitted.map(({ transactionHash, result }) => ({
      hash: formatTransactionHash(network.addressForm, transactionHash),
      result: fill(text[hashResults[result]], { merchant }),
    })),
    isOpen: notice?.isError === true || submitted.length > 0,
    isInvalid: notice?.isError === true,
  };
}

function makeBack(view: CheckoutPageView, text: Catalogue): PageModel["back"] {
  const href = view.invoice.redirectUrl;
  // Whatever wrote it into the store: a payer's click never runs a script.
  if (href === null || !/^https?:\/\//i.test(href)) return null;
  return { href, label: fill(text.back, { merchant: view.merchantName }) };
}
