// Amounts that payers can send, and shortfalls that they cannot: USDT has 6 decimals here and a dust of 0.01.
import { expect } from "chai";
import { known } from "../../support/ledger.ts";
import { findToken } from "../../../src/platform/chain/networks.ts";
import { expectStatus, type Json } from "../../support/app.ts";
import { expectDigits, usdt } from "../../support/amounts.ts";
import { openDesk, suggestedFor } from "../../support/counter.ts";
import { xpubOf } from "../../support/merchants.ts";
import { paymentChecks } from "../../../src/features/payments/ledger/checks.ts";
import { payments } from "../../../src/features/payments/table.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";

eachStore("A part of an invoice that nobody can send", (store) => {
  const it = takeTurns(store);
  const shop = openDesk(store);
  const { issue, read, post, pay, inboxed } = shop;

  /** Pays an amount that no rule matches, and allocates it to the invoice. */
  async function credit(invoice: Json, amount: string): Promise<void> {
    await pay(amount);
    const found = await inboxed();
    const allocations = [{ invoiceId: invoice["id"], amount }];
    await expectStatus(post(`/transfers/${String(found?.["id"])}/allocate`, { allocations }), 200);
    await shop.counter.mine(3);
  }
  const paymentsOf = async ({ id }: Json) =>
    (await shop.counter.list(shop.merchant, `/payments?invoiceId=${String(id)}`)).map(
      ({ amount, roundingAmount, settlementAmount }) => [amount, roundingAmount, settlementAmount],
    );

  it("counts as paid and is shown as the rounding of the payment, in all sums", async () => {
    const invoice = await issue({ amount: "25.00" });
    await credit(invoice, "24.990001");
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
      paidTokenAmount: "24.990001",
      remainingAmount: "0.00",
    });
    expect(await paymentsOf(invoice)).to.deep.equal([["24.990001", "0.009999", "25.00"]]);
    const { body } = await shop.counter.app.request(
      "GET",
      `/v1/organizations/${shop.merchant.organizationId}/analytics/summary`,
      { key: shop.merchant.key },
    );
    expect(JSON.stringify(body)).to.include('"25.00"').and.not.to.include("24.99");
  });

  it("is asked for from the dust on", async () => {
    const invoice = await issue({ amount: "25.00" });
    await credit(invoice, "24.99");
    expect(await read(invoice)).to.include({
      status: "partially_paid",
      paidAmount: "24.99",
      remainingAmount: "0.01",
    });
    await pay("0.01");
    expect(await read(invoice)).to.include({ status: "paid", exception: "none" });
    expect(await paymentsOf(invoice)).to.deep.equal([
      ["0.01", "0.00", "0.01"],
      ["24.99", "0.00", "24.99"],
    ]);
  });

  it("is one shortfall of an invoice that is paid in many parts, not one of each", async () => {
    const invoice = await issue({ amount: "30.00" });
    for (const part of ["9.995", "9.995"]) await credit(invoice, part);
    expect(await read(invoice)).to.include({ status: "partially_paid", remainingAmount: "10.01" });
    await credit(invoice, "10.005");
    expect(await read(invoice)).to.include({ status: "paid", paidAmount: "30.00" });
    expect(await paymentsOf(invoice)).to.deep.equal([
      ["10.005", "0.005", "10.01"],
      ["9.995", "0.00", "10.00"],
      ["9.995", "0.00", "9.99"],
    ]);
  });

  it("is at most 1 %: of a smaller price the dust is asked for, and its excess does not count as overpaid", async () => {
    const within = await issue({ amount: "0.50" });
    await credit(within, "0.495");
    expect(await read(within)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "0.50",
    });
    const beyond = await issue({ amount: "5.50" });
    await credit(beyond, "5.45");
    expect(await read(beyond)).to.include({ status: "partially_paid", remainingAmount: "0.05" });
    const small = await issue({ amount: "0.80" });
    await credit(small, "0.7919");
    const asked = await read(small);
    expect(asked).to.include({ status: "partially_paid" });
    expect(usdt(asked["remainingAmount"]) >= usdt("0.01")).to.equal(true);
    await pay(asked["remainingAmount"]);
    expect(await read(small)).to.include({ status: "paid", exception: "none", paidAmount: "0.80" });
  });

  it("changes no match: an amount that is short by less than dust waits for the merchant", async () => {
    const invoice = await issue({ amount: "25.00" });
    await pay("24.995");
    expect(await read(invoice)).to.include({ status: "open", paidAmount: "0.00" });
    expect(await inboxed()).to.include({ amount: "24.995" });
  });

  it.onBoth(
    "is none of a payment that waits for a decision or is rejected, and verification names a wrong one",
    async () => {
      const invoice = await issue({ amount: "25.00" });
      const hash = await pay("24.995");
      const path = `/v1/checkout/${String(invoice["checkoutId"])}/transactions`;
      const submitted = { body: { transactionHash: `0x${hash}` } };
      await expectStatus(shop.counter.app.request("POST", path, submitted), 202);
      await shop.counter.examine();
      expect(await paymentsOf(invoice)).to.deep.equal([["24.995", "0.00", "24.99"]]);
      const [payment] = await shop.counter.list(
        shop.merchant,
        `/payments?invoiceId=${String(invoice["id"])}`,
      );
      const decide = (what: string) => post(`/payments/${String(payment?.["id"])}/${what}`, {});
      await expectStatus(decide("accept"), 200);
      await shop.counter.mine(3);
      expect(await read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
      expect(await paymentsOf(invoice)).to.deep.equal([["24.995", "0.005", "25.00"]]);
      const faults = async () => {
        const check = paymentChecks.find(({ name }) => name === "payments.ledger");
        const found = await check?.run(shop.counter.app.app.db);
        return found?.map(({ fault }) => fault);
      };
      const { db } = shop.counter.app.app;
      const round = (units: bigint) =>
        db.write(testContext, (tx) =>
          tx.update(payments, { roundingAmount: units }, "WHERE id = $1", [
            String(payment?.["id"]),
          ]),
        );
      await round(5_001n);
      expect(await faults()).to.deep.equal(["Its roundingAmount is 5001 but should be 5000."]);
      await round(5_000n);
      expect(await faults()).to.deep.equal([]);
      await expectStatus(decide("reverse"), 200);
      expect(await paymentsOf(invoice)).to.deep.equal([["24.995", "0.00", "24.99"]]);
    },
  );

  it("is made up for by a later payment, without any rounding left", async () => {
    const invoice = await issue({ amount: "25.00" });
    await credit(invoice, "24.995");
    await credit(invoice, "1.00");
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "overpaid",
      paidAmount: "25.99",
      excessAmount: "0.995",
    });
    expect(await paymentsOf(invoice)).to.deep.equal([
      ["1.00", "0.00", "0.99"],
      ["24.995", "0.005", "25.00"],
    ]);
  });

  it("is never asked for: whatever an open invoice asks for is credited when it is sent", async () => {
    for (const [price, part] of [
      ["0.02", "0.0101"],
      ["0.50", "0.494999"],
      ["0.99", "0.980001"],
      ["1.01", "1.000001"],
      ["77.77", "77.76"],
      ["77.77", "70.123456"],
    ] as const) {
      const invoice = await issue({ amount: price });
      await credit(invoice, part);
      const asked = await read(invoice);
      if (asked["status"] === "partially_paid") {
        const remaining = String(asked["remainingAmount"]);
        expect(usdt(remaining) >= usdt("0.01"), remaining).to.equal(true);
        expect(remaining.split(".")[1]?.length ?? 0).to.be.at.most(6);
        await pay(remaining);
      }
      expect(await read(invoice), `${part} of ${price}`).to.include({
        status: "paid",
        exception: "none",
        paidAmount: price,
      });
    }
  });

  it("is suggested first for the rounded amount of a wallet with two decimals, which no rule matches", async () => {
    await issue({ amount: "25.00" });
    const invoice = await issue({ amount: "25.00" });
    const others = [await issue({ amount: "25.50" }), await issue({ amount: "24.90" })];
    const asked = expectDigits(invoice["payableAmount"], "25.00");
    await pay((Math.ceil(Number(asked) / 10_000) / 100).toFixed(2));
    for (const one of [invoice, ...others]) {
      expect(await read(one)).to.include({ status: "open", paidAmount: "0.00" });
    }
    const [first, second] = suggestedFor(await inboxed());
    expect(first).to.deep.include({
      invoiceId: invoice["id"],
      reasons: ["rounded_amount", "in_time"],
    });
    expect(second?.["reasons"]).to.not.include("rounded_amount");
  });
});

eachStore("An amount that a live invoice asks for", (store) => {
  const shop = openDesk(store);
  const { issue, read, post, pay, inboxed } = shop;
  const sandboxToken = () => {
    const { enabled } = shop.counter.app.app.networks;
    return known(findToken(known(enabled.get("sandbox")), "USDT"));
  };
  /** Starts the watcher with another dust, as an operator does. */
  const setDust = (dust: string) => Object.assign(sandboxToken(), { dust: usdt(dust) });
  afterEach(() => setDust("0.01"));
  const dispositions = async () =>
    (await shop.counter.list(shop.merchant, "/transfers")).map(({ amount, status }) => [
      amount,
      status,
    ]);

  it("is credited although the operator has raised the dust above it, and other dust is ignored", async () => {
    const body = { label: "Own", network: "sandbox", xpub: xpubOf(9) };
    const { body: wallet } = await expectStatus(post("/wallets", body), 201);
    const alone = await issue({ walletId: wallet["id"], amount: "0.50" });
    const exact = await issue({ amount: "0.60" });
    const rest = await issue({ amount: "10.00" });
    await pay("9.30");
    const part = await inboxed();
    const allocations = [{ invoiceId: rest["id"], amount: "9.30" }];
    await expectStatus(post(`/transfers/${String(part?.["id"])}/allocate`, { allocations }), 200);
    await pay("0.33");
    const waiting = await inboxed();
    setDust("1.00");

    const own = String(alone["walletAddress"]).slice(2).toLowerCase();
    await shop.counter.pay(own, usdt("0.004"));
    await pay("0.77");
    expect((await dispositions()).slice(0, 3)).to.have.deep.members([
      ["0.004", "ignored"],
      ["0.77", "ignored"],
      ["0.33", "unmatched"],
    ]);
    expect(await read(alone)).to.include({ status: "open" });

    await shop.counter.pay(own, usdt("0.30"));
    await shop.counter.mine(3);
    expect(await read(alone)).to.include({ status: "partially_paid", remainingAmount: "0.20" });
    await shop.counter.pay(own, usdt("0.20"));
    await pay(exact["payableAmount"]);
    await pay((await read(rest))["remainingAmount"]);
    for (const invoice of [alone, exact, rest]) {
      expect(await read(invoice)).to.include({ status: "paid", exception: "none" });
    }
    // The transfer that waited already can still be allocated.
    const other = await issue({ amount: "5.00" });
    const late = [{ invoiceId: other["id"], amount: "0.33" }];
    const path = `/transfers/${String(waiting?.["id"])}/allocate`;
    await expectStatus(post(path, { allocations: late }), 200);
    const { body: problem } = await expectStatus(
      post("/invoices", {
        amount: "0.90",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "sandbox",
      }),
      422,
    );
    expect(problem["code"]).to.equal("amount_too_small");
  });

  it("waits in the inbox if its match is doubtful, also below the raised dust", async () => {
    const upper = await issue({ amount: "0.80" });
    const lower = await issue({ amount: "0.54" });
    await shop.counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE holds SET needs_decision = 1 WHERE invoice_id = $1", [String(lower["id"])]),
    );
    setDust("1.00");
    await pay(lower["payableAmount"]);
    expect(await inboxed()).to.include({
      amount: lower["payableAmount"],
      waitingReason: "entered_amount",
    });
    await pay(upper["payableAmount"]);
    expect(await read(upper)).to.include({ status: "paid" });
  });
});
