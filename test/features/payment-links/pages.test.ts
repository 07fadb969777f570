// The form of a payment link, below the path of a reverse proxy: the page to which it sends the payer.
import { expect } from "chai";
import {
  AmountTooLarge,
  AmountTooSmall,
  InvoiceNotOpen,
  NoWallet,
} from "../../../src/features/invoices/index.ts";
import { failureOf } from "../../../src/features/payment-links/pages.ts";
import { invalidField } from "../../../src/kernel/errors.ts";
import { StoreUnavailable } from "../../../src/platform/database/index.ts";
import { anyStore } from "../../support/store/stores.ts";
import { openCounter, type Counter, type Merchant } from "../payments/ledger/counter.ts";

anyStore("A payer who enters an amount at a payment link", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let link: string;
  before(async () => {
    counter = await openCounter(store, { TILL_BASE_URL: "https://pay.example/shop" });
    merchant = await counter.merchant();
    const terms = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
    const made = await counter.post(merchant, "/payment-links", terms);
    link = `/link/${String(made.body["id"])}`;
  });
  after(() => counter.stop());

  /** Sends the form. Returns the path to which the payer is sent. */
  async function enter(amount: string, query = ""): Promise<string | null> {
    const answer = await fetch(counter.app.url + link + query, {
      method: "POST",
      body: new URLSearchParams({ amount }),
      redirect: "manual",
    });
    return answer.headers.get("location");
  }

  it("is sent to the payment or back with the reason, in the chosen language", async () => {
    const failed = `/shop${link}?failed`;
    expect(await enter("25")).to.equal(`${failed}=unavailable`);
    expect(await enter("25", "?lang=de")).to.equal(`${failed}=unavailable&lang=de`);
    await counter.wallet(merchant);
    expect(await enter("1000000000000.01")).to.equal(`${failed}=amount`);
    expect(await enter("25")).to.match(/^\/shop\/pay\/chk_\w+$/);
    expect(await enter("25", "?lang=de")).to.match(/^\/shop\/pay\/chk_\w+\?lang=de$/);
  });
});

describe("The reason why a payment was not started at a link", () => {
  it("is the amount, or else that the merchant cannot be paid now", () => {
    for (const error of [
      new AmountTooLarge("Less."),
      new AmountTooSmall("More."),
      invalidField("/amount", "out_of_range", "is outside the link's bounds"),
    ]) {
      expect(failureOf(error), error.code).to.equal("amount");
    }
    for (const error of [new NoWallet("None."), new InvoiceNotOpen("No more.")]) {
      expect(failureOf(error), error.code).to.equal("unavailable");
    }
  });

  it("is missing for a defect and an unavailable store, which have pages of their own", () => {
    for (const error of [new Error("a defect"), new StoreUnavailable("The disk is full.")]) {
      expect(() => failureOf(error)).to.throw(error.message);
    }
  });
});
