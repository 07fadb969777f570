// The signed documents of a shop's checkout, on a clock that the test moves.
import { expect } from "chai";
import type { App } from "../../../src/app.ts";
import { listReceiptKeys } from "../../../src/features/receipts/keys.ts";
import { isOver } from "../../../src/features/receipts/pages.ts";
import { signPaymentRequest, signReceipt } from "../../../src/features/receipts/receipts.ts";
import { checkSigned, type Verified } from "../../../src/features/receipts/signed-text.ts";
import type { ConfiguredNetwork } from "../../../src/platform/config/config.ts";
import { appOf } from "../../support/context.ts";
import {
  known,
  networkOf,
  openBook,
  openLedger,
  refusal,
  type Ledger,
} from "../../support/ledger.ts";
import { serverSecret } from "../../support/secret.ts";
import { anyStore } from "../../support/store/stores.ts";

const walletAddress = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";

/** Returns the app of an instance whose table has these networks. */
function instanceOf({ db, ids, now }: Ledger, ...networks: readonly ConfiguredNetwork[]): App {
  const table = new Map(networks.map((network) => [network.id, network]));
  return appOf({
    db,
    ids,
    clock: { now },
    secret: serverSecret,
    networks: { known: table, enabled: table, enabledIds: [...table.keys()] },
    baseUrl: () => "https://pay.example/till",
  });
}

anyStore("A signed receipt", (store) => {
  it("is of an invoice whose payments are confirmed, and of no other", async () => {
    const book = await openBook(await store.open());
    const app = instanceOf(book, book.network);
    const invoice = await book.issue();
    const checkoutId = invoice.checkoutId ?? "";
    const code = async () => (await refusal(signReceipt(app, checkoutId))).code;
    expect(await code()).to.equal("not_paid");
    const [payment] = await book.pay(invoice, ["10.00"]);
    expect(await code()).to.equal("not_paid");
    await book.confirm(known(payment));
    const { claims } = await signReceipt(app, checkoutId);
    expect(claims).to.deep.include({
      iss: "https://pay.example/till",
      checkoutId,
      paidAmount: "10.00",
      receivedAmount: "10.00",
      transactionHashes: [`0x${known(payment).transactionHash}`],
    });
  });
});

anyStore("A signed payment request", (store) => {
  let shop: Ledger;
  let tron: ConfiguredNetwork;
  before(async () => {
    shop = await openLedger(await store.open(), "tron");
    tron = networkOf(shop, "tron");
    await shop.addWallet("tron", { address: walletAddress });
  });

  const instanceWith = (...networks: readonly ConfiguredNetwork[]) => instanceOf(shop, ...networks);
  const issue = async () => {
    await shop.scan("tron");
    return (await shop.create()).checkoutId ?? "";
  };

  it("names the token's contract, unless the network no longer has the token", async () => {
    const checkoutId = await issue();
    shop.advance(999);
    const { claims } = await signPaymentRequest(instanceWith(tron), checkoutId);
    expect(claims).to.include({
      iss: "https://pay.example/till",
      iat: (shop.now() - 999) / 1_000,
      checkoutId,
      chainId: 728_126_428,
      tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      walletAddress,
      remainingAmount: "25.00",
    });
    const tokenless = instanceWith({ ...tron, tokens: [] });
    const without = await signPaymentRequest(tokenless, checkoutId);
    expect(without.claims.tokenContract).to.equal(null);
    const refused = await refusal(signPaymentRequest(instanceWith(), checkoutId));
    expect(refused.code).to.equal("nothing_to_pay");
  });

  it("is over after its deadline, and a receipt never is", async () => {
    const app = instanceWith(tron);
    const { jws, claims } = await signPaymentRequest(app, await issue());
    const verified = (await checkSigned(jws, await listReceiptKeys(app))) as Verified;
    const leftMs = Date.parse(claims.expiresAt) - shop.now();
    expect(leftMs).to.be.greaterThan(0);
    expect(isOver(verified, shop.now())).to.equal(false);
    shop.advance(leftMs);
    expect(isOver(verified, shop.now())).to.equal(false);
    shop.advance(1);
    expect(isOver(verified, shop.now())).to.equal(true);
    expect(isOver({ ...verified, kind: "receipt" } as Verified, shop.now())).to.equal(false);
  });
});
