// The signed documents of a shop's checkout, on a clock that the test moves.
import { expect } from "chai";
import { makeReceiptKeys } from "../../../src/features/receipts/keys.ts";
import { makeReceiptService } from "../../../src/features/receipts/service.ts";
import type { Verified } from "../../../src/features/receipts/signed-text.ts";
import type { Network } from "../../../src/platform/chain/networks.ts";
import { createJournal } from "../../../src/platform/journal/index.ts";
import { openShop, refusal, type Shop } from "../../support/invoice-services-fixture.ts";
import { serverSecret } from "../../support/secret.ts";
import { anyStore } from "../../support/store/stores.ts";
import { checkoutOf } from "../checkout/shop-checkout.ts";
import { known, openLedger } from "../payments/written-ledger.ts";

const walletAddress = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";

/** Makes the service of an instance whose table has these networks. */
function serviceOf(shop: Shop, ...networks: readonly Network[]) {
  const { db, ids } = shop;
  const clock = { now: shop.now };
  const journal = createJournal({ ids, wake: () => undefined });
  return makeReceiptService({
    clock,
    keys: makeReceiptKeys({ db, clock, journal, secret: serverSecret }),
    checkout: checkoutOf(shop),
    networks: new Map(networks.map((network) => [network.id, network])),
    baseUrl: () => "https://pay.example/till",
  });
}

anyStore("A signed receipt", (store) => {
  it("is of an invoice whose payments are confirmed, and of no other", async () => {
    const book = await openLedger(await store.open());
    const service = serviceOf(book, book.network);
    const invoice = await book.issue();
    const checkoutId = invoice.checkoutId ?? "";
    const code = async () => (await refusal(service.receipt(checkoutId))).code;
    expect(await code()).to.equal("not_paid");
    const [payment] = await book.pay(invoice, ["10.00"]);
    expect(await code()).to.equal("not_paid");
    await book.confirm(known(payment));
    const { claims } = await service.receipt(checkoutId);
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
  let shop: Shop;
  let tron: Network;
  before(async () => {
    shop = await openShop(await store.open(), "tron");
    const found = shop.networks.get("tron");
    if (found === undefined) throw new Error("there is no TRON");
    tron = found;
    await shop.addWallet("tron", { address: walletAddress });
  });

  const serviceWith = (...networks: readonly Network[]) => serviceOf(shop, ...networks);
  const issue = async () => {
    await shop.scan("tron");
    return (await shop.create()).checkoutId ?? "";
  };

  it("names the token's contract, unless the network no longer has the token", async () => {
    const checkoutId = await issue();
    shop.advance(999);
    const { claims } = await serviceWith(tron).paymentRequest(checkoutId);
    expect(claims).to.include({
      iss: "https://pay.example/till",
      iat: (shop.now() - 999) / 1_000,
      checkoutId,
      chainId: 728_126_428,
      tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      walletAddress,
      remainingAmount: "25.00",
    });
    const without = await serviceWith({ ...tron, tokens: [] }).paymentRequest(checkoutId);
    expect(without.claims.tokenContract).to.equal(null);
    const refused = await refusal(serviceWith().paymentRequest(checkoutId));
    expect(refused.code).to.equal("nothing_to_pay");
  });

  it("is over after its deadline, and a receipt never is", async () => {
    const service = serviceWith(tron);
    const { jws, claims } = await service.paymentRequest(await issue());
    const verified = (await service.check(jws)) as Verified;
    const leftMs = Date.parse(claims.expiresAt) - shop.now();
    expect(leftMs).to.be.greaterThan(0);
    expect(service.isOver(verified)).to.equal(false);
    shop.advance(leftMs);
    expect(service.isOver(verified)).to.equal(false);
    shop.advance(1);
    expect(service.isOver(verified)).to.equal(true);
    expect(service.isOver({ ...verified, kind: "receipt" } as Verified)).to.equal(false);
  });
});
