// Prices that payers without a credential enter at a link, and the fees that exchanges keep, at one shared address.
import { expect } from "chai";
import { holds } from "../../../src/features/invoices/table.ts";
import { expectStatus, type Json } from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { expectDigits, usdt } from "../../support/amounts.ts";
import { openDesk, suggestedFor } from "../../support/counter.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";

const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };

eachStore("An amount that somebody without a credential chooses", (store) => {
  const it = takeTurns(store);
  const shop = openDesk(store, { TILL_TRUST_PROXY: "127.0.0.1" });
  let payers = 0;
  const { issue, read, post, pay, inboxed } = shop;

  const newLink = async (more: Json = {}) =>
    (await expectStatus(post("/payment-links", { ...priced, ...more }), 201)).body;

  /** Enters an amount at a link as a payer does, and returns the new invoice. */
  async function enter(link: Json, amount: string): Promise<Json> {
    const answer = await fetch(String(link["url"]), {
      method: "POST",
      // Each payer comes from a range of client addresses of their own.
      headers: { "X-Forwarded-For": `203.0.${String((payers += 1) % 256)}.1` },
      body: new URLSearchParams({ amount }),
      redirect: "manual",
    });
    const checkoutId = /chk_\w+/.exec(answer.headers.get("location") ?? "")?.[0] ?? "";
    const { counter, merchant } = shop;
    const invoices = await counter.list(merchant, "/invoices?limit=100");
    const invoice = invoices.find((each) => each["checkoutId"] === checkoutId);
    if (invoice === undefined) throw new Error(`no invoice came of ${String(answer.status)}`);
    return invoice;
  }
  const heldBy = async ({ id }: Json) => {
    const { db } = shop.counter.app.app;
    const [held] = await db.find(holds, "WHERE invoice_id = $1", [String(id)]);
    if (held === undefined) throw new Error("nothing is held");
    return held;
  };
  const isAbove = ({ payableAmount }: Json) => usdt(payableAmount) > usdt(25);
  const isBare = (invoice: Json) => /^\d+\.\d\d$/.test(String(invoice["payableAmount"]));

  it("is never paid with another payer's money from which an exchange kept a fee", async () => {
    const victim = await issue({ amount: "25.00" });
    const link = await newLink();
    const strangers = [await enter(link, "24"), await enter(link, "24.00")];
    await pay(24);
    for (const stranger of strangers) {
      expect(isBare(stranger)).to.equal(false);
      expect(await read(stranger)).to.include({ status: "open", paidAmount: "0.00" });
    }
    const found = await inboxed();
    expect(found).to.include({ status: "unmatched", amount: "24.00" });
    expect(suggestedFor(found).map(({ invoiceId }) => invoiceId)).to.include(victim["id"]);
  });

  it("is not paid either if the stranger comes first, and pays when its own digits are sent", async () => {
    const stranger = await enter(await newLink(), "24");
    await issue({ amount: "25.00" });
    await pay(24);
    expect(await read(stranger)).to.include({ status: "open" });
    await pay(stranger["payableAmount"]);
    expect(await read(stranger)).to.include({ status: "paid", paidAmount: "24.00" });
  });

  it("has digits drawn from its whole band, so that it cannot be aimed", async () => {
    const link = await newLink();
    const drawn: number[] = [];
    for (let count = 0; count < 12; count += 1) {
      const { payableAmount } = await enter(link, "24");
      drawn.push(Number(usdt(payableAmount) - usdt(24)));
    }
    expect(new Set(drawn).size).to.equal(12);
    for (const digits of drawn) {
      expect(digits).to.be.within(1, 240_000);
      expect(digits % 10_000, "two decimals").not.to.equal(0);
    }
    // The chance that all twelve are in the lowest tenth of the band is 10^-12.
    expect(Math.max(...drawn)).to.be.above(24_000);
  });

  it("waits for the merchant if its band has fewer than 1,000 amounts", async () => {
    const link = await newLink();
    const small = await enter(link, "0.09");
    const larger = await enter(link, "0.10");
    await pay(small["payableAmount"]);
    expect(await read(small)).to.include({ status: "open" });
    const found = await inboxed();
    expect(found).to.include({ waitingReason: "entered_amount" });
    expect(suggestedFor(found)[0]).to.include({ invoiceId: small["id"] });
    await pay(larger["payableAmount"]);
    expect(await read(larger)).to.include({ status: "paid" });
    const allocations = [{ invoiceId: small["id"], amount: small["payableAmount"] }];
    await expectStatus(post(`/transfers/${String(found?.["id"])}/allocate`, { allocations }), 200);
    expect((await read(small))["status"]).to.be.oneOf(["confirming", "paid"]);
  });

  it.onBoth(
    "is also one that a payer typed into a form of an API client, of which an organization has one limit",
    async () => {
      const entered = (amount: string, more: Json = {}) =>
        issue({ amount, payerEnteredAmount: true, ...more });
      const first = await entered("70.00");
      expect(isBare(first)).to.equal(false);
      expect(isBare(await issue({ amount: "70.00" }))).to.equal(true);
      await pay(first["payableAmount"]);
      expect(await read(first)).to.include({ status: "paid", paidAmount: "70.00" });
      const all = await Promise.all(Array.from({ length: 20 }, () => entered("70.00")));
      const waiting = await Promise.all(
        all.map(async (each) => (await heldBy(each)).needsDecision),
      );
      expect(waiting.filter((waits) => !waits)).to.have.length(10);
      expect(await heldBy(await enter(await newLink(), "70"))).to.include({ needsDecision: false });
      // The items of a batch, and drafts after each edit.
      const invoices = [
        { ...priced, amount: "80.00", externalId: "A-1", payerEnteredAmount: true },
      ];
      const { body: batch } = await expectStatus(post("/invoices/batch", { invoices }), 200);
      const [{ invoice: imported = {} } = {}] = batch["results"] as { invoice?: Json }[];
      expect(isBare(imported)).to.equal(false);
      const { id } = await entered("90.00", { draft: true });
      for (const changes of [{ description: "A gift" }, { status: "open" }]) {
        const path = `/v1/organizations/${shop.merchant.organizationId}/invoices/${String(id)}`;
        const { key } = shop.merchant;
        await expectStatus(shop.counter.app.request("PATCH", path, { key, body: changes }), 200);
      }
      const draft = await read({ id });
      expect(draft).to.include({ status: "open", description: "A gift" });
      expect(isBare(draft)).to.equal(false);
      expect(await heldBy(draft)).to.include({ enteredAtLink: shop.merchant.organizationId });
      await expectStatus(
        post("/invoices", { ...priced, amount: "1.00", payerEnteredAmount: "yes" }),
        400,
      );
    },
  );

  it.onBoth(
    "waits from the eleventh unpaid invoice of its link on, also if 64 payers come at once",
    async () => {
      const link = await newLink();
      const paid = await enter(link, "50");
      await pay(paid["payableAmount"]);
      const all = await Promise.all(Array.from({ length: 64 }, () => enter(link, "50")));
      const waiting = await Promise.all(
        all.map(async (each) => (await heldBy(each)).needsDecision),
      );
      expect(waiting.filter((waits) => !waits)).to.have.length(10);
      // Each price and each link has its own limit.
      expect(await heldBy(await enter(link, "60"))).to.include({ needsDecision: false });
      expect(await heldBy(await enter(await newLink(), "50"))).to.include({ needsDecision: false });
      const last = all[waiting.indexOf(true)] as Json;
      await pay(last["payableAmount"]);
      expect(await read(last)).to.include({ status: "open" });
      expect(await inboxed()).to.include({ waitingReason: "entered_amount" });
    },
  );

  it("is paid by its exact amount alone, whatever underpayment the link tolerates", async () => {
    const stranger = await enter(await newLink({ underpaymentTolerance: "5" }), "24");
    await pay(23.9);
    expect(await read(stranger)).to.include({ status: "open", paidAmount: "0.00" });
    expect(await inboxed()).to.include({ amount: "23.90" });
  });

  it("asks for a rest with digits too, which the payer cannot choose by a part", async () => {
    const stranger = await enter(await newLink(), "49");
    const part = Number(stranger["payableAmount"]) - 24;
    await pay(part);
    const allocations = [{ invoiceId: stranger["id"], amount: part.toFixed(6) }];
    const found = await inboxed();
    await expectStatus(post(`/transfers/${String(found?.["id"])}/allocate`, { allocations }), 200);
    const partly = await read(stranger);
    expect(partly).to.include({ status: "partially_paid" });
    expect(Number(partly["remainingAmount"])).to.be.above(24);
    await pay(24);
    expect(await read(stranger)).to.include({ status: "partially_paid" });
  });

  it("is what it is at an address of its own, and at a link with a price of the merchant's", async () => {
    const fixed = await newLink({ amount: "24.00" });
    expect(await enter(fixed, "1")).to.include({ payableAmount: "24.00" });
    const own = { label: "Own addresses", network: "sandbox", xpub: xpubs.first };
    const wallet = await expectStatus(post("/wallets", own), 201);
    const link = await newLink({ walletId: wallet.body["id"] });
    const invoice = await enter(link, "24");
    expect(invoice).to.include({ payableAmount: "24.00" });
    await shop.counter.pay(
      String(invoice["walletAddress"]).replace(/^0x/, "").toLowerCase(),
      usdt(24),
    );
    await shop.counter.mine(3);
    expect(await read(invoice)).to.include({ status: "paid" });
  });

  describe("does not change what others are asked for", () => {
    it("although it holds an amount near their price", async () => {
      const link = await newLink();
      for (let count = 0; count < 3; count += 1) await enter(link, "25");
      expect(await issue({ amount: "25.00" })).to.include({ payableAmount: "25.00" });
    });

    it("unlike a bare price a little above or below, as long as that is not paid", async () => {
      const first = await issue({ amount: "25.00" });
      for (const near of ["24.00", "26.25"]) {
        expectDigits((await issue({ amount: near }))["payableAmount"], near);
      }
      expect(await issue({ amount: "26.70" })).to.include({ payableAmount: "26.70" });
      expect(await issue({ amount: "23.75" })).to.include({ payableAmount: "23.75" });
      expect(await issue({ amount: "3.00" })).to.include({ payableAmount: "3.00" });
      expectDigits((await issue({ amount: "2.00" }))["payableAmount"], "2.00");
      await pay(first["payableAmount"]);
      expect(await issue({ amount: "25.30" })).to.include({ payableAmount: "25.30" });
    });
  });

  describe("is not the digits of another payer's amount less a fee, which nobody can foresee", () => {
    const one = usdt(1);
    const cancel = ({ id }: Json) => post(`/invoices/${String(id)}/cancel`);
    /**
     * Pays an amount of 25.00 with digits less a fee of 1.00, three times; expects that none of the others is credited, and
     * that the payer's own invoice is suggested. One may be hit by chance, of 990 amounts; the chance of two is 10^-5.
     */
    async function expectNoAim(
      others: () => Promise<readonly Json[]>,
      isBefore: boolean,
    ): Promise<void> {
      await issue({ amount: "24.00" });
      let hits = 0;
      for (let payer = 0; payer < 3; payer += 1) {
        const early = isBefore ? await others() : [];
        const victim = await issue({ amount: "25.00" });
        const late = isBefore ? [] : await others();
        const asked = expectDigits(victim["payableAmount"], "25.00");
        await pay(Number(asked - one) / 1_000_000);
        const open = await Promise.all([victim, ...early, ...late].map(read));
        for (const each of open.slice(1)) expectDigits(each["payableAmount"], "24.00");
        expect(open[0]).to.include({ status: "open", paidAmount: "0.00" });
        if (open.some(({ status }) => status !== "open")) hits += 1;
        else {
          const found = await inboxed();
          expect(found).to.include({ status: "unmatched" });
          expect(usdt(found?.["amount"])).to.equal(asked - one);
          expect(suggestedFor(found).map(({ invoiceId }) => invoiceId)).to.include(victim["id"]);
        }
        for (const each of open) await cancel(each);
      }
      expect(hits, "credited with another payer's money").to.be.at.most(1);
    }

    it("if another invoice of the lower price has digits too", () =>
      expectNoAim(async () => [await issue({ amount: "24.00" })], true));

    it("if strangers open a link with the merchant's price before the payer comes", async () => {
      const link = await newLink({ amount: "24.00" });
      await expectNoAim(async () => [await enter(link, "1"), await enter(link, "1")], true);
    });

    it("if strangers open a link with the merchant's price after the payer comes", async () => {
      const link = await newLink({ amount: "24.00" });
      await expectNoAim(async () => [await enter(link, "1"), await enter(link, "1")], false);
    });
  });

  it("makes no other payer's exact payment wait, however near the price that a stranger enters is", async () => {
    const other = await issue({ amount: "1.00" });
    const link = await newLink({});
    for (let count = 0; count < 3; count += 1) await enter(link, "0.99");
    await pay(1);
    expect(await read(other)).to.include({ status: "paid", paidAmount: "1.00" });
  });

  it("pays a round amount although a link with eleven open invoices asks for a little less", async () => {
    const other = await issue({ amount: "25.00" });
    const link = await newLink({ amount: "24.95" });
    const isRoundedUp = ({ payableAmount }: Json) =>
      usdt(payableAmount) >= usdt(24.99) && usdt(payableAmount) < usdt(25);
    let started = await enter(link, "");
    for (let count = 1; !isRoundedUp(started) || count <= 10; count += 1) {
      const next = await enter(link, "");
      if (!isRoundedUp(started)) started = next;
    }
    await pay(25);
    expect(await read(other)).to.include({ status: "paid" });
    expect(await read(started)).to.include({ status: "open" });
  });

  it("is not a round amount either to which the wallet of another payer rounds up", async () => {
    const other = await issue({ amount: "25.00" });
    let rounding = await issue({ amount: "24.95" });
    // The digits of one in ten are between 0.04 and 0.05.
    while (usdt(24.99) > usdt(rounding["payableAmount"]) || isAbove(rounding)) {
      rounding = await issue({ amount: "24.95" });
    }
    await pay(25);
    for (const one of [other, rounding]) {
      expect(await read(one)).to.include({ status: "open", paidAmount: "0.00" });
    }
    expect(await inboxed()).to.include({ waitingReason: "rounded_up" });
    await pay(rounding["payableAmount"]);
    await pay(25);
    expect(await read(other)).to.include({ status: "paid" });
  });

  it("cannot use a bare price that was given before one a little above it", async () => {
    const lower = await issue({ amount: "24.00" });
    const upper = await issue({ amount: "25.00" });
    expectDigits(upper["payableAmount"], "25.00");
    // As a store of an earlier version has it: both are bare.
    const { db } = shop.counter.app.app;
    const { price } = await heldBy(upper);
    await db.write(testContext, (tx) =>
      tx.update(holds, { amount: price ?? 0n, leastAmount: price ?? 0n }, "WHERE invoice_id = $1", [
        String(upper["id"]),
      ]),
    );
    await pay(24);
    expect(await read(lower)).to.include({ status: "open" });
    const found = await inboxed();
    expect(found).to.include({ waitingReason: "fee_kept" });
    expect(suggestedFor(found)[0]).to.include({ invoiceId: lower["id"] });
  });
});
