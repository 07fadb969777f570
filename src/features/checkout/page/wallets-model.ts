import { fill, networkText, type Catalogue } from "./catalogue.ts";
import { tokenText } from "./page-words.ts";
import type { CheckoutSession } from "../session.ts";
import { unsettledResults } from "../rules.ts";

/** Paying from a wallet of the browser. Its script fills the element, so that nothing is offered without a wallet. */
export interface WalletsModel {
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
export function makeWallets(session: CheckoutSession, text: Catalogue): WalletsModel | null {
  const { walletTransfer, submittedTransactions: submitted, invoice } = session;
  const settled = submitted.filter(({ result }) => !unsettledResults.has(result));
  if (walletTransfer === null && settled.length === submitted.length) return null;
  const values = {
    amount: tokenText(session, invoice.remainingAmount),
    network: networkText(session),
    token: invoice.tokenSymbol,
  };
  return {
    standard: walletTransfer?.walletStandard ?? "",
    chainId: walletTransfer?.chainId ?? "",
    contract: walletTransfer?.tokenContract ?? "",
    data: walletTransfer?.data ?? "",
    settled: settled.map(({ transactionHash }) => transactionHash).join(" "),
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
