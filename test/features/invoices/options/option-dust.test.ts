// The dust of an invoice is that of the option in force, in the smallest unit of its token.
import { expect } from "chai";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { openOptionsCounter, type OptionsCounter } from "../../../support/counter.ts";

eachStore("The dust of an option that a payer chooses", (store) => {
  let counter: OptionsCounter;
  let merchant: Merchant;
  let walletId: unknown;
  before(async () => {
    counter = await openOptionsCounter(store);
    merchant = await counter.merchant();
    const own = { label: "Own", network: "sandbox", xpub: xpubOf(8) };
    walletId = (await expectStatus(counter.post(merchant, "/wallets", own), 201)).body["id"];
  });
  after(() => counter.stop());

  /** Issues an invoice for 25.00 in one token, of which the payer chooses another. */
  async function chosen(first: string, second: string): Promise<Json> {
    const paymentOptions = [first, second].map((tokenSymbol) => ({
      network: "sandbox",
      tokenSymbol,
      walletId,
    }));
    const input = { amount: "25.00", settlementCurrency: "USD", paymentOptions };
    const { body } = await expectStatus(counter.post(merchant, "/invoices", input), 201);
    const path = `/v1/checkout/${String(body["checkoutId"])}/option`;
    const option = { network: "sandbox", tokenSymbol: second };
    await expectStatus(counter.app.request("POST", path, { body: option }), 200);
    return body;
  }
  const read = ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`);
  async function pay(invoice: Json, units: bigint, token: string): Promise<Json> {
    const { walletAddress } = await read(invoice);
    await counter.pay(String(walletAddress).slice(2).toLowerCase(), units, { token });
    await counter.mine(3);
    return read(invoice);
  }

  it("decides what is asked for, rounded and too much", async () => {
    const seen = [
      await pay(await chosen("DAI", "USDT"), 10_000_000n, "USDT"),
      await pay(await chosen("DAI", "USDT"), 24_750_000n, "USDT"),
      await pay(await chosen("DAI", "USDT"), 1_000_000_000n, "USDT"),
      await pay(await chosen("USDT", "DAI"), 24_995_000_000_000_000_000n, "DAI"),
      await pay(await chosen("USDT", "DAI"), 25_005_000_000_000_000_000n, "DAI"),
    ];
    expect(seen[0]).to.include({ status: "partially_paid", remainingAmount: "15.00" });
    expect(seen[1]).to.include({ status: "partially_paid", remainingAmount: "0.25" });
    expect(seen[2]).to.include({ exception: "overpaid", owedAmount: "975.00" });
    expect(seen[3]).to.include({ status: "paid", exception: "none", paidAmount: "25.00" });
    expect(seen[4]).to.include({ status: "paid", exception: "none", owedAmount: "0.00" });
  });
});
