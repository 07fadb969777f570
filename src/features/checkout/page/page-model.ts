import { minute, second, toIso, type Instant } from "../../../kernel/clock.ts";
import { formatMoney, type Money } from "../../../kernel/money/money.ts";
import { transactionLink } from "../../../platform/chain/networks.ts";
import type { ClaimResult } from "../../payments/index.ts";
import { fill, formatTime, type Catalogue } from "./catalogue.ts";
import { describeState, excessText, type StateWords } from "./page-words.ts";
import { amountText, networkText, transactionsOf } from "../present.ts";
import { drawCode } from "./qr.ts";
import { isOverpaid, isPayable, stateOf, type CheckoutState } from "../rules.ts";
import type { CheckoutPageView } from "../service.ts";

/** The data of the templates. Everything except the QR codes is text, which they escape. */
export interface PageModel extends StateWords {
  readonly text: Catalogue;
  readonly basePath: string;
  readonly title: string;
  readonly merchant: string;
  /** Path of this page; `sessionPath` is the session that the script polls. */
  readonly path: string;
  readonly sessionPath: string;
  readonly state: CheckoutState;
  readonly isTest: boolean;
  readonly hasSandbox: boolean;
  /** Server time of the rendering, on which the script's countdown is based. */
  readonly at: Instant;
  /** Poll interval of the script, in milliseconds. */
  readonly pollMs: number;
  readonly payment: PaymentModel | null;
  readonly progress: ProgressModel | null;
  readonly receipt: ReceiptModel | null;
  readonly facts: readonly Fact[];
  readonly transactions: readonly TransactionModel[];
  /** Result of the form that was just submitted. */
  readonly notice: PageNotice | null;
  /** Form for a transaction hash; null in states in which no payment can be missing. */
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
  /** Previously submitted transactions with their results. */
  readonly submitted: readonly { readonly hash: string; readonly result: string }[];
  readonly isOpen: boolean;
  /** True if the submitted text was not a hash. */
  readonly isInvalid: boolean;
}

/** A time for people and for the script. */
interface ShownTime {
  readonly iso: string;
  readonly text: string;
}

interface Fact {
  readonly label: string;
  readonly value: string;
  /** Set if the value is a time. */
  readonly time: ShownTime | null;
}

interface TransactionModel {
  readonly hash: string;
  /** Link to the block explorer; null if the network has none. */
  readonly link: string | null;
}

interface CodeModel {
  readonly svg: string;
  readonly label: string;
  readonly hint: string;
}

interface PaymentModel {
  readonly label: string;
  /** The two parts form the copied amount; the second has the decimals that people tend to omit when they round. */
  readonly amount: readonly [string, string];
  readonly symbol: string;
  readonly network: string;
  /** Amount in the invoice's currency; null if that is the token itself. */
  readonly asks: string | null;
  readonly addressLabel: string;
  /** The three parts form the address; people compare its first and last characters. */
  readonly address: readonly [string, string, string];
  /** Link that opens a wallet on the same device; null if the network's wallets support none. */
  readonly walletLink: string | null;
  readonly code: CodeModel;
  /** QR code of the address only, if the main code contains more. */
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

/** States in which the payer may have paid although no payment was detected. */
const hashStates: ReadonlySet<CheckoutState> = new Set([
  "awaiting",
  "partly_paid",
  "expired_unpaid",
  "expired_partly_paid",
  "canceled",
  "cannot_check",
]);

/** Poll intervals of the script: while a payment may arrive, on the test network, and at the end. */
const pollMs = { open: 5 * second, test: 1.5 * second, over: minute / 2 } as const;

/** Builds the data of a checkout page. */
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
    // Real wallets do not support the test network.
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

/** Returns the facts below a state in which the payment is not complete. */
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
    hash: network.kind.formatTransactionHash(hash),
    link: transactionLink(network, hash),
  }));
}

/** The payer's text for each result. */
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
      hash: network.kind.formatTransactionHash(transactionHash),
      result: fill(text[hashResults[result]], { merchant }),
    })),
    isOpen: notice?.isError === true || submitted.length > 0,
    isInvalid: notice?.isError === true,
  };
}

function makeBack(view: CheckoutPageView, text: Catalogue): PageModel["back"] {
  const href = view.invoice.redirectUrl;
  // A defense in depth: whatever is stored, a link never runs a script.
  if (href === null || !/^https?:\/\//i.test(href)) return null;
  return { href, label: fill(text.back, { merchant: view.merchantName }) };
}
