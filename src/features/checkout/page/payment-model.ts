import { openResults } from "../rules.ts";
import { fill, formatPrice, type Catalogue } from "./catalogue.ts";
import { shownTime, type ShownTime } from "./facts.ts";
import { tokenText, valuesOf } from "./page-words.ts";
import { drawCode } from "./qr.ts";
import type { CheckoutSession } from "../session.ts";

interface CodeModel {
  readonly svg: string;
  readonly label: string;
  readonly hint: string;
}

/** A code that some wallets misread: they take the token's contract for the recipient. */
interface FullCodeModel extends CodeModel {
  /** The recipient and the amount that the wallet must show after reading it, as a sentence. */
  readonly check: string;
  /** Link that opens a wallet on the same device; null if there are no real wallets for the network. */
  readonly walletLink: string | null;
}

/** The drawing of a coin with the token's letters, and the network's letter on a block. */
interface CoinModel {
  readonly letters: string;
  /** Font size of the letters, in 48ths of the drawing. */
  readonly letterSize: number;
  readonly networkLetter: string;
}

/** The form in which the payer chooses a token and a network. */
export interface OptionsModel {
  readonly action: string;
  /** True while nobody has chosen: the script may apply the choice that the payer made for another payment. */
  readonly isFresh: boolean;
  readonly list: readonly {
    readonly value: string;
    readonly symbol: string;
    readonly network: string;
    readonly isInForce: boolean;
  }[];
}

/** The request to pay. */
export interface PaymentModel {
  /** True if paying at once could be paying twice: then the request opens on demand, without scripts too. */
  readonly isFolded: boolean;
  readonly label: string;
  /** The two parts form the copied amount; the second has the decimals that people tend to omit when they round. */
  readonly amount: readonly [string, string];
  readonly symbol: string;
  readonly coin: CoinModel;
  readonly network: string;
  /** Amount in the invoice's currency; null if that is the token itself. */
  readonly price: string | null;
  readonly addressLabel: string;
  /** The three parts form the address; people compare its first and last characters. */
  readonly address: readonly [string, string, string];
  /** The code of the bare address. */
  readonly code: CodeModel;
  /** The code with token and amount, behind a switch; null if the network has none. */
  readonly fullCode: FullCodeModel | null;
  /** Other tokens and networks to pay with; null if there is no choice. */
  readonly options: OptionsModel | null;
  /** Null if no wallet of a browser can pay. */
  readonly wallets: WalletsModel | null;
  /** Why the amount has more decimals than the price; null if it does not, or not for that reason. */
  readonly lastDigits: string | null;
  /** The way to pay from a wallet that takes only two decimals; null if the amount has no more. */
  readonly twoDecimals: string | null;
  /** The amount that must arrive, for payers whose exchange takes a fee from it. */
  readonly arrives: string;
  /** The warning is what a payer loses money by. */
  readonly rules: readonly { readonly isWarning: boolean; readonly rule: string }[];
  readonly expires: ShownTime;
  /** The words that take the place of the request at the deadline, if the page cannot be read again then. */
  readonly over: { readonly headline: string; readonly next: string };
}

/** Decimals that people write anyway, so that they do not omit them. */
const usualDecimals = 2;

/** The last characters of the address, which payers compare with their wallet's: fewer can be imitated. */
const endLetters = 8;

/** `action` is the address of the form in which the payer chooses an option. */
export function makePayment(
  session: CheckoutSession,
  text: Catalogue,
  action: string,
  isFolded: boolean,
): PaymentModel {
  const { invoice, isTest } = session;
  const { walletAddress: address, tokenSymbol } = invoice;
  const named = {
    ...valuesOf(session),
    address,
    ending: address.slice(-endLetters),
  };
  const uri = session.paymentUri;
  const isWhole = invoice.remainingAmount === invoice.payableAmount;
  return {
    isFolded,
    label: isWhole ? text.amountToPay : text.stillToPay,
    amount: splitAmount(invoice.remainingAmount),
    symbol: tokenSymbol,
    coin: makeCoin(session),
    network: fill(text.onNetwork, named),
    price:
      isWhole && invoice.settlementCurrency !== tokenSymbol
        ? fill(text.price, {
            amount: formatPrice(text, invoice.amount, invoice.settlementCurrency),
          })
        : null,
    addressLabel: fill(text.addressOn, named),
    address: [address.slice(0, 6), address.slice(6, -endLetters), address.slice(-endLetters)],
    code: {
      svg: drawCode(session.qrCode),
      label: fill(text.qrAddressLabel, named),
      hint: fill(text.scanAddress, named),
    },
    fullCode:
      uri === null
        ? null
        : {
            svg: drawCode(uri),
            label: fill(text.qrLabel, named),
            hint: fill(text.scanAll, named),
            check: fill(text.scanCheck, named),
            walletLink: isTest ? null : uri,
          },
    wallets: makeWallets(session, text),
    options: makeOptions(session, action),
    lastDigits:
      session.isAddressShared && splitAmount(invoice.remainingAmount)[1] !== ""
        ? text.lastDigits
        : null,
    twoDecimals: twoDecimalsText(session, text),
    arrives: fill(text.arrives, named),
    rules: [
      { isWarning: true, rule: fill(text.onlyHere, named) },
      ...(isTest ? [] : [{ isWarning: false, rule: coinText(session, text) }]),
    ],
    expires: shownTime(invoice.expiresAt, text),
    over: {
      headline: text.expiredHeadline,
      next: fill(text.cannotCheckOver, { contact: session.merchantDisplayName }),
    },
  };
}

/**
 * Returns the way to pay from a wallet that takes two decimals: at a shared address the rounded amount proves nothing, so
 * the payer submits the transaction too.
 */
function twoDecimalsText(session: CheckoutSession, text: Catalogue): string | null {
  const [usual, further] = splitAmount(session.invoice.remainingAmount);
  if (further === "") return null;
  const hundredths = BigInt(usual.replace(".", "")) + 1n;
  const digits = hundredths.toString().padStart(usualDecimals + 1, "0");
  const rounded = `${digits.slice(0, -usualDecimals)}.${digits.slice(-usualDecimals)}`;
  const words = session.isAddressShared ? text.twoDecimalsShared : text.twoDecimalsOwn;
  return fill(words, {
    rounded: tokenText(session, rounded),
    merchant: session.merchantDisplayName,
  });
}

/** `action` is the address of the form. */
export function makeOptions(
  { options, state }: CheckoutSession,
  action: string,
): OptionsModel | null {
  if (options.length === 0) return null;
  return {
    action,
    isFresh: state === "awaiting" && options.filter(({ isHeld }) => isHeld).length === 1,
    list: options.map(({ network, networkTitle, tokenStandard, tokenSymbol, isInForce }) => ({
      value: `${network}/${tokenSymbol}`,
      symbol: tokenSymbol,
      network: `${networkTitle} (${tokenStandard})`,
      isInForce,
    })),
  };
}

function coinText({ networkCoin: coin, networkTitle }: CheckoutSession, text: Catalogue): string {
  return coin === null
    ? fill(text.unnamedCoin, { network: networkTitle })
    : fill(text.ownCoin, { coin });
}

/** Font sizes at which one, two and three letters fill the coin, and four or more. */
const letterSizes = [18, 18, 15] as const;
const lettersMax = 4;

function makeCoin({ invoice, networkTitle }: CheckoutSession): CoinModel {
  const letters = invoice.tokenSymbol.slice(0, lettersMax);
  return {
    letters,
    letterSize: letterSizes[letters.length - 1] ?? 11,
    networkLetter: networkTitle.slice(0, 1),
  };
}

function splitAmount(digits: string): readonly [string, string] {
  const point = digits.indexOf(".");
  const usual = point < 0 ? digits.length : point + 1 + usualDecimals;
  return [digits.slice(0, usual), digits.slice(usual)];
}

/** Paying from a wallet of the browser. Its script fills the element, so that nothing is offered without a wallet. */
interface WalletsModel {
  /** The standard by which wallets are found; empty while there is nothing to ask them for. */
  readonly standard: string;
  /** The chain, contract and calldata that the page asks for; empty while a submitted transaction is being looked for. */
  readonly chainId: string;
  readonly contract: string;
  readonly data: string;
  /** The submitted transactions whose search has ended, separated by spaces. */
  readonly settled: string;
  /** The script's sentences by the names of their data attributes. */
  readonly words: readonly (readonly [string, string])[];
  /** Links that open this page in the browser of a wallet's app. */
  readonly apps: readonly { readonly name: string; readonly href: string }[];
}

/** The sentences by which the script reports, with the keys of their texts. */
const sentences = [
  ["pay-with", "walletPayWith"],
  ["pay", "walletPay"],
  ["waiting", "walletWaiting"],
  ["sent", "walletSent"],
  ["unsubmitted", "walletUnsubmitted"],
  ["refused", "walletRefused"],
  ["chain", "walletWrongNetwork"],
  ["token", "walletWrongToken"],
  ["balance", "walletTooLittle"],
  ["silent", "walletSilent"],
  ["failed", "walletFailed"],
  ["changed", "walletChanged"],
  ["offline", "walletOffline"],
] as const satisfies readonly (readonly [string, keyof Catalogue])[];

/** Returns the model of the wallets; null if nothing can be paid by one. */
function makeWallets(session: CheckoutSession, text: Catalogue): WalletsModel | null {
  const { walletTransfer, submittedTransactions: submitted, invoice } = session;
  const closed = submitted.filter(({ result }) => !openResults.has(result));
  if (walletTransfer === null && closed.length === submitted.length) return null;
  const values = valuesOf(session);
  return {
    standard: walletTransfer?.walletStandard ?? "",
    chainId: walletTransfer?.chainId ?? "",
    contract: walletTransfer?.tokenContract ?? "",
    data: walletTransfer?.data ?? "",
    settled: closed.map(({ transactionHash }) => transactionHash).join(" "),
    words: sentences.map(([name, key]) => [`data-${name}`, fill(text[key], values)] as const),
    apps: walletTransfer === null ? [] : appsOf(walletTransfer.walletStandard, invoice.checkoutUrl),
  };
}

/** Returns the wallets' links that open a page in their own browsers, which accept only pages over https. */
function appsOf(
  standard: NonNullable<CheckoutSession["walletTransfer"]>["walletStandard"],
  page: string,
): WalletsModel["apps"] {
  if (!page.startsWith("https://")) return [];
  const encoded = encodeURIComponent(page);
  switch (standard) {
    case "eip-6963":
      return [
        // https://docs.metamask.io/sdk/guides/use-deeplinks: the page without its scheme, not encoded
        {
          name: "MetaMask",
          href: `https://link.metamask.io/dapp/${page.slice("https://".length)}`,
        },
        // https://developer.trustwallet.com/developer/develop-for-trust/deeplinking; 60: Ethereum, where it starts
        {
          name: "Trust Wallet",
          href: `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded}`,
        },
        // https://docs.cdp.coinbase.com/coinbase-wallet/developer-guidance/mobile-dapp-integration
        { name: "Coinbase Wallet", href: `https://go.cb-w.com/dapp?cb_url=${encoded}` },
      ];
    case "tip-6963": {
      // https://docs.tronlink.org/mobile/deeplink
      const asked = { url: page, action: "open", protocol: "tronlink", version: "1.0" };
      const param = encodeURIComponent(JSON.stringify(asked));
      return [{ name: "TronLink", href: `tronlinkoutside://pull.activity?param=${param}` }];
    }
  }
}
