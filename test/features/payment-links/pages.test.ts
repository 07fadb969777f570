// The form of a payment link, below the path of a reverse proxy: the page to which it sends the payer.
import { expect } from "chai";
import {
  AmountTooLarge,
  AmountTooSmall,
  InvoiceNotOpen,
  NoWallet,
} from "../../../src/features/invoices/errors.ts";
import { failureOf } from "../../../src/features/payment-links/pages.ts";
import { invalidField, invalidFields } from "../../../src/kernel/errors.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { expectStatus, type Merchant } from "../../support/app.ts";
import { anyStore } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";

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

  it("reads that the merchant has to correct the link if its redirectUrl is refused, not that the amount is wrong", async () => {
    const returning = {
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
      redirectUrl: "https://old.example/thanks",
    };
    const own = await counter.merchant();
    await counter.wallet(own);
    const made = await counter.post(own, "/payment-links", returning);
    link = `/link/${String(made.body["id"])}`;
    expect(await enter("25")).to.match(/^\/shop\/pay\/chk_\w+$/);
    const path = `/v1/organizations/${own.organizationId}`;
    const body = { allowedOrigins: ["https://new.example"] };
    await expectStatus(counter.app.request("PATCH", path, { token: own.token, body }), 200);
    const failed = await enter("25");
    expect(failed).to.equal(`/shop${link}?failed=terms`);
    const page = await (await fetch(counter.app.url + link + "?failed=terms")).text();
    expect(page).to.match(/has to correct the link first/);
    expect(page).not.to.contain("aria-invalid");
    // A wrong amount is still the payer's.
    expect(await enter("0")).to.equal(`/shop${link}?failed=amount`);
  });
});

describe("The reason why a payment was not started at a link", () => {
  const entered = { amount: null };
  const fixed = { amount: "25.00" };

  it("is the amount only if the payer entered it, and it is what was refused", () => {
    for (const error of [
      new AmountTooLarge("Less."),
      new AmountTooSmall("More."),
      invalidField("/amount", "out_of_range", "is outside the link's bounds"),
    ]) {
      expect(failureOf(error, entered), error.code).to.equal("amount");
      expect(failureOf(error, fixed), error.code).not.to.equal("amount");
    }
  });

  it("is the link if another field was refused, or its own amount, which only the merchant can correct", () => {
    for (const pointer of ["/redirectUrl", "/walletId", "/paymentOptions/0/network", ""]) {
      const refused = invalidField(pointer, "invalid_value", "is refused");
      expect(failureOf(refused, entered), pointer).to.equal("terms");
      expect(failureOf(refused, fixed), pointer).to.equal("terms");
    }
    const both = invalidFields(
      ["/amount", "/redirectUrl"].map((pointer) => ({ pointer, code: "no", message: "is wrong" })),
    );
    expect(failureOf(both, entered)).to.equal("terms");
    expect(failureOf(invalidField("/amount", "no", "is wrong"), fixed)).to.equal("terms");
  });

  it("is otherwise that the merchant cannot be paid now", () => {
    for (const error of [new NoWallet("None."), new InvoiceNotOpen("No more.")]) {
      expect(failureOf(error, entered), error.code).to.equal("unavailable");
    }
    expect(failureOf(new AmountTooSmall("More."), fixed)).to.equal("unavailable");
  });

  it("is missing for a defect and an unavailable store, which have pages of their own", () => {
    for (const error of [new Error("a defect"), new StoreUnavailable("The disk is full.")]) {
      expect(() => failureOf(error, entered)).to.throw(error.message);
    }
  });
});
