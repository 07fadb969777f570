import { fill, type Catalogue } from "./catalogue.ts";
import { shownTime, type ShownTime } from "./facts.ts";
import { networkText, tokenText } from "./page-words.ts";
import { drawCode } from "./qr.ts";
import type { CheckoutSession } from "../present.ts";

interface CodeModel {
  readonly svg: string;
  readonly label: string;
  readonly hint: string;
}

/** The request to pay. */
export interface PaymentModel {
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

/** Decimals that people write anyway, so that they do not omit them. */
const usualDecimals = 2;

export async function makePayment(
  session: CheckoutSession,
  text: Catalogue,
): Promise<PaymentModel> {
  const { invoice, isTest } = session;
  const { walletAddress: address, tokenSymbol } = invoice;
  const named = {
    amount: tokenText(session, invoice.remainingAmount),
    network: networkText(session),
    token: tokenSymbol,
    address,
  };
  const holds = session.qrCode;
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
  const isWhole = invoice.remainingAmount === invoice.payableAmount;
  return {
    label: isWhole ? text.amountToPay : text.stillToPay,
    amount: splitAmount(invoice.remainingAmount),
    symbol: tokenSymbol,
    network: fill(text.onNetwork, named),
    asks:
      isWhole && invoice.settlementCurrency !== tokenSymbol
        ? fill(text.asks, { amount: `${invoice.amount} ${invoice.settlementCurrency}` })
        : null,
    addressLabel: fill(text.addressOn, named),
    address: [address.slice(0, 6), address.slice(6, -6), address.slice(-6)],
    // Real wallets do not support the test network.
    walletLink: isBare || isTest ? null : holds,
    code: fullCode ?? addressCode,
    addressCode: fullCode === null ? null : addressCode,
    rules: [
      fill(text.arrives, named),
      fill(text.onlyHere, named),
      ...(isTest ? [] : [fill(text.ownCoin, { network: session.networkTitle })]),
    ],
    expires: shownTime(invoice.expiresAt, text),
  };
}

function splitAmount(digits: string): readonly [string, string] {
  const point = digits.indexOf(".");
  const usual = point < 0 ? digits.length : point + 1 + usualDecimals;
  return [digits.slice(0, usual), digits.slice(usual)];
}
