import { expect } from "chai";
import { sandboxOf } from "../../../src/features/payments/sandbox/sandbox.ts";
import { refundChecks } from "../../../src/features/refunds/checks.ts";
import { transfers } from "../../../src/features/payments/table.ts";
import { columnTypes } from "../../../src/platform/database/schema/table.ts";
import { migration as owedAmounts } from "../../../src/platform/database/schema/migrations/0035-owed-amounts.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { expectStatus, type Answer, type Json } from "../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { usdt } from "../../support/amounts.ts";
import { finalBlocks, openDesk } from "../../support/counter.ts";
import { xpubOf } from "../../support/merchants.ts";

const sumOf = (invoice: Json, more: number) => (Number(invoice["payableAmount"]) + more).toFixed(6);

eachStore("refunds", (store) => {
  const it = takeTurns(store);
  const desk = openDesk(store);

  /** Asks for the refund of a payment, sends it and lets it become final. Returns the refund. */
  async function refunded(invoice: Json, hash: string): Promise<Json> {
    const { state, canRequestRefund, nextAction } = await desk.session(invoice);
    expect(canRequestRefund).to.equal(true);
    // While the merchant decides about a payment, its payer waits, and may ask for the refund all the same.
    const next = String(state).endsWith("_review") ? "wait" : "request_refund";
    expect(nextAction).to.equal(next);
    const payer = desk.newAddress();
    const asked = await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
    expect(asked.body).to.include({ canRequestRefund: false, nextAction: "wait" });
    const refund = await desk.refundOf(invoice);
    expect(refund).to.include({ status: "requested", requestedBy: "payer", tokenSymbol: "USDT" });
    const sent = await desk.give(payer, refund["amount"]);
    await expectStatus(desk.name(refund, sent), 200);
    await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({ status: "sent", confirmedAt: null });
    const another = { paymentId: refund["paymentId"], amount: "1.00", address: `0x${payer}` };
    const { body: open } = await expectStatus(desk.post("/refunds", another), 409);
    expect(open).to.include({ code: "refund_open" });
    expect(open["detail"]).to.match(/ is sent\. Wait until it is confirmed\.$/);
    await desk.settle();
    const done = await desk.refundOf(invoice);
    expect(done).to.include({ status: "confirmed", transactionHash: `0x${sent}`, refusal: null });
    const [shown] = (await desk.session(invoice))["refunds"] as Json[];
    expect(shown).to.include({ status: "confirmed", transactionHash: `0x${sent}` });
    expect(String(shown?.["address"])).to.match(/^0xcccc…\w{8}$/i);
    return done;
  }

  /** Returns the invoice's amounts that are owed and in review, which its newest event must have too. */
  async function aside(invoice: Json): Promise<Json> {
    const { owedAmount, reviewAmount } = await desk.read(invoice);
    const told = await desk.counter.app.app.db.find(events, "WHERE object_id = $1 ORDER BY id", [
      String(invoice["id"]),
    ]);
    const data = told.at(-1)?.payload;
    expect(data, "the newest event").to.include({ owedAmount, reviewAmount });
    return { owedAmount, reviewAmount };
  }

  /** Lets the migration fill the columns again that earlier versions did not have; they must become the same. */
  async function migratedAgain(): Promise<void> {
    const { db } = desk.counter.app.app;
    const columns = () =>
      db.all("SELECT id, aside, late_until FROM invoices WHERE issued_at IS NOT NULL ORDER BY id");
    const before = await columns();
    await db.write(testContext, async (tx) => {
      await tx.run("UPDATE invoices SET aside = NULL, late_until = NULL");
      const [update = ""] = owedAmounts.up(columnTypes[tx.dialect], tx.dialect).slice(-1);
      await tx.run(update);
      await owedAmounts.fill?.(tx);
    });
    expect(await columns()).to.deep.equal(before);
  }

  const paymentOf = async (refund: Json) =>
    desk.counter.get(desk.merchant, `/payments/${String(refund["paymentId"])}`);

  it.onBoth("return the overpaid part of a paid invoice, which stays paid", async () => {
    const invoice = await desk.issue({ underpaymentTolerance: "0" });
    // Two parts: the second one is too large, so the merchant allocates it.
    const first = await desk.paid(invoice);
    expect(await desk.read(invoice)).to.include({ status: "paid" });
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(false);
    const refused = await desk.ask(invoice, first, `0x${desk.newAddress()}`);
    expect(refused.body["code"]).to.equal("not_refundable");
    const [needed] = await desk.counter.list(desk.merchant, "/payments");
    const early = await desk.post("/refunds", {
      paymentId: needed?.["id"],
      amount: "1.00",
      address: `0x${desk.newAddress()}`,
    });
    expect(early.body["code"]).to.equal("not_refundable");
    const second = await desk.pay("7.35");
    const transfer = await desk.inboxed();
    await expectStatus(
      desk.post(`/transfers/${String(transfer?.["id"])}/allocate`, {
        allocations: [{ invoiceId: invoice["id"], amount: "5.00" }],
      }),
      200,
    );
    await desk.counter.mine(3);
    expect(await desk.session(invoice)).to.include({ state: "overpaid" });
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "5.00", reviewAmount: "0.00" });
    const refund = await refunded(invoice, second);
    expect(refund).to.include({ amount: "5.00" });
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "0.00" });
    expect(await desk.read(invoice)).to.include({ status: "paid", exception: "overpaid" });
    expect(await paymentOf(refund)).to.include({ status: "confirmed" });
    const [paid] = await desk.counter.list(desk.merchant, `/payments?transactionHash=0x${first}`);
    const reversed = await desk.post(`/payments/${String(paid?.["id"])}/reverse`);
    expect(reversed.body["code"]).to.equal("payment_refunded");
  });

  it.onBoth(
    "say whether their address is the one that sent the payment, however alike it looks",
    async () => {
      const invoice = await desk.issue();
      const hash = await desk.paid(invoice);
      const [paid] = await desk.counter.list(desk.merchant, "/payments");
      const path = `/payments/${String(paid?.["id"])}/reverse`;
      await expectStatus(desk.post(path, { cancel: true }), 200);
      const { db } = desk.counter.app.app;
      const [transfer] = await db.find(transfers, "WHERE transaction_hash = $1", [hash]);
      const sender = transfer?.fromAddress ?? "";
      // The first 4 and the last 6 digits are the sender's, as a page once showed them.
      const imitated = sender.slice(0, 4) + "e".repeat(30) + sender.slice(-6);
      const shown: unknown[] = [];
      for (const [address, isToSender] of [
        [sender, true],
        [imitated, false],
      ] as const) {
        const body = { paymentId: paid?.["id"], amount: "1.00", address: `0x${address}` };
        const made = await expectStatus(desk.post("/refunds", body), 201);
        expect(made.body).to.include({ isToSender });
        const [event] = await db.find(events, "WHERE object_id = $1 ORDER BY id", [
          String(made.body["id"]),
        ]);
        expect(event?.payload).to.include({ isToSender });
        const [seen] = (await desk.session(invoice))["refunds"] as Json[];
        shown.push(seen?.["address"]);
        const reject = `/refunds/${String(made.body["id"])}/reject`;
        await expectStatus(desk.post(reject, { reason: "A test." }), 200);
      }
      expect(new Set(shown).size).to.equal(2);
    },
  );

  it("return a late payment that waited for the merchant, who can no longer accept it", async () => {
    await expectStatus(
      desk.counter.app.request(
        "PATCH",
        `/v1/organizations/${desk.merchant.organizationId}/payment-policy`,
        {
          key: desk.merchant.key,
          body: { latePayments: "review" },
        },
      ),
      200,
    );
    const invoice = await desk.issue();
    await desk.expire(invoice);
    const hash = await desk.pay(invoice["payableAmount"]);
    const [waiting] = await desk.counter.list(desk.merchant, "/payments");
    const early = await desk.post("/refunds", {
      paymentId: waiting?.["id"],
      amount: "1.00",
      address: `0x${desk.newAddress()}`,
    });
    expect(early.body["code"]).to.equal("refund_too_early");
    // A minute at least; the missing blocks of the sandbox take little more.
    expect(Number(early.headers.get("retry-after"))).to.be.within(60, 120);
    expect(early.body["detail"]).to.match(/final .* at about 33 confirmations\. It has \d\./);
    await desk.settle();
    expect(await desk.session(invoice)).to.include({ state: "late_review" });
    const waits = { owedAmount: "0.00", reviewAmount: invoice["payableAmount"] };
    expect(await aside(invoice)).to.deep.equal(waits);
    const refund = await refunded(invoice, hash);
    expect(await paymentOf(refund)).to.include({ status: "rejected" });
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "0.00" });
    const accepted = await desk.post(`/payments/${String(refund["paymentId"])}/accept`);
    expect(accepted.body["code"]).to.equal("payment_not_in_review");
    expect(await desk.inboxed()).to.equal(null);
  });

  it("return a payment of a canceled invoice", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    const refund = await refunded(invoice, hash);
    expect(refund["amount"]).to.equal(invoice["payableAmount"]);
    expect(await desk.read(invoice)).to.include({ status: "canceled" });
  });

  it("return a part that an expired invoice received, which then no longer counts", async () => {
    const invoice = await desk.issue();
    const inbox = await desk.pay("10.00");
    const transfer = await desk.inboxed();
    await expectStatus(
      desk.post(`/transfers/${String(transfer?.["id"])}/allocate`, {
        allocations: [{ invoiceId: invoice["id"], amount: "10.00" }],
      }),
      200,
    );
    await desk.counter.mine(3);
    await desk.expire(invoice);
    expect(await desk.read(invoice)).to.include({ status: "expired", paidTokenAmount: "10.00" });
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "10.00", reviewAmount: "0.00" });
    const refund = await refunded(invoice, inbox);
    expect(await desk.read(invoice)).to.include({ status: "expired", paidTokenAmount: "0.00" });
    // It was confirmed before.
    expect(await paymentOf(refund)).to.include({ status: "rejected", isVerified: true });
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "0.00" });
  });

  it("return a second payment of the same amount", async () => {
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const second = await desk.paid(invoice);
    const early = await desk.ask(invoice, second, `0x${desk.newAddress()}`);
    expect(early.body["code"]).to.equal("not_refundable");
    await expectStatus(
      desk.counter.app.request(
        "POST",
        `/v1/checkout/${String(invoice["checkoutId"])}/transactions`,
        { body: { transactionHash: second } },
      ),
      202,
    );
    await desk.examine();
    const refund = await refunded(invoice, second);
    expect(refund["amount"]).to.equal(invoice["payableAmount"]);
    expect(await desk.read(invoice)).to.include({ status: "paid", exception: "none" });
  });

  it("return what came in two tokens of one invoice, each in its own and never more than the excess", async () => {
    const paymentOptions = ["USDT", "USDC"].map((tokenSymbol) => ({
      network: "sandbox",
      tokenSymbol,
    }));
    const priced = { amount: "25.00", settlementCurrency: "USD", paymentOptions };
    const invoice = (await expectStatus(desk.post("/invoices", priced), 201)).body;
    const path = `/v1/checkout/${String(invoice["checkoutId"])}/option`;
    const body = { network: "sandbox", tokenSymbol: "USDC" };
    await expectStatus(desk.counter.app.request("POST", path, { body }), 200);
    await desk.pay(invoice["payableAmount"]);
    expect(await desk.read(invoice)).to.include({ status: "paid", tokenSymbol: "USDT" });
    const refunds: string[] = [];
    for (const [token, amount] of [
      ["USDC", "25.00"],
      ["USDT", "5.00"],
    ] as const) {
      // No rule counts what a paid invoice does not ask for: the merchant allocates it.
      const hash = await desk.counter.pay(desk.address, usdt(amount), { token });
      await desk.counter.mine(3);
      const transfer = await desk.inboxed();
      const allocations = [{ invoiceId: invoice["id"], amount }];
      const allocate = `/transfers/${String(transfer?.["id"])}/allocate`;
      await expectStatus(desk.post(allocate, { allocations }), 200);
      await desk.counter.mine(3);
      const { state, refundable, invoice: shown } = await desk.session(invoice);
      expect(state).to.equal("overpaid");
      const ask = { transactionHash: `0x${hash}`, amount, tokenSymbol: token };
      expect(refundable).to.include({ ...ask, network: "sandbox" });
      const excess = token === "USDC" ? "25.00" : "30.00";
      expect((shown as Json)["excessAmount"]).to.equal(excess);
      expect(await desk.read(invoice)).to.include({ excessAmount: excess });
      const payer = desk.newAddress();
      await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
      const [refund = {}] = await desk.refunds(`?invoiceId=${String(invoice["id"])}`);
      expect(refund).to.include({ amount, tokenSymbol: token });
      await expectStatus(desk.name(refund, await desk.give(payer, amount, { token })), 200);
      refunds.push(String(refund["id"]));
    }
    await desk.settle();
    for (const id of refunds) {
      const refund = await desk.counter.get(desk.merchant, `/refunds/${id}`);
      expect(refund).to.include({ status: "confirmed" });
    }
    expect(await desk.session(invoice)).to.include({
      canRequestRefund: false,
      refundable: null,
    });
    expect(await desk.read(invoice)).to.include({ status: "paid", exception: "overpaid" });
  });

  it.onBoth(
    "never exceed a surplus, whoever asks at once, and give later requests the first one",
    async () => {
      const invoice = await desk.issue();
      await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
      const hash = await desk.paid(invoice);
      const [payment] = await desk.counter.list(
        desk.merchant,
        `/payments?invoiceId=${String(invoice["id"])}`,
      );
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, index) =>
          index % 2 === 0
            ? desk.ask(invoice, hash, `0x${desk.newAddress()}`)
            : desk.post("/refunds", {
                paymentId: payment?.["id"],
                amount: "1.00",
                address: `0x${desk.newAddress()}`,
              }),
        ),
      );
      const codes = new Set(
        answers.map(({ status, body }) => `${String(status)} ${String(body["code"])}`),
      );
      expect(
        [...codes].filter((code) => !/^(202|201|409 refund_open|409 not_refundable)/.test(code)),
      ).to.deep.equal([]);
      expect(await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).to.have.length(1);
      const again = await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
      expect(again.body["refunds"]).to.have.length(1);
    },
  );

  const refusals: readonly (readonly [
    string,
    string,
    (payer: string, amount: number) => Promise<string>,
  ])[] = [
    ["fails", "failed", (payer, amount) => desk.give(payer, amount, { failed: true })],
    ["pays somebody else", "other_recipient", (_, amount) => desk.give(desk.newAddress(), amount)],
    [
      "pays in another token",
      "other_token",
      (payer, amount) => desk.give(payer, amount, { token: "USDC" }),
    ],
    [
      "pays in a fake token",
      "other_token",
      (payer, amount) => desk.give(payer, amount, { fakeToken: true }),
    ],
    [
      "comes from a foreign wallet",
      "other_sender",
      (payer, amount) => desk.give(payer, amount, { from: desk.newAddress() }),
    ],
    ["pays too little", "too_small", (payer, amount) => desk.give(payer, amount - 0.000001)],
  ];
  it("refuse every transaction that does not pay them, and stay requested", async () => {
    const invoice = await desk.issue();
    const payer = desk.newAddress();
    const old = await desk.give(payer, invoice["payableAmount"]);
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
    const refund = await desk.refundOf(invoice);
    for (const [, code, send] of [
      ...refusals,
      ["is older than the payment", "too_early", () => Promise.resolve(old)] as const,
    ]) {
      const named = await send(payer, Number(refund["amount"]));
      await expectStatus(desk.name(refund, named), 200);
      await desk.examine();
      if (code !== "too_early") {
        // Its block is not final: nothing is refused yet, but the merchant can read what is wrong.
        expect(await desk.refundOf(invoice)).to.include({ status: "sent", refusal: code });
        await desk.settle();
      }
      expect(await desk.refundOf(invoice)).to.include({
        status: "requested",
        refusal: code,
        transactionHash: null,
        refusedTransactionHash: `0x${named}`,
      });
    }
    const own = await desk.name(refund, hash);
    expect(own.body["code"]).to.equal("transaction_used");
    const malformed = await desk.name(refund, "0x12");
    expect(malformed.status).to.equal(400);
    // Nobody knows it: given up after about an hour.
    await expectStatus(desk.name(refund, "ab".repeat(32)), 200);
    for (let attempt = 0; attempt < 18; attempt += 1) await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({ status: "requested", refusal: "unknown" });
    const good = await desk.give(payer, refund["amount"]);
    await expectStatus(desk.name(refund, good), 200);
    await desk.settle();
    expect(await desk.refundOf(invoice)).to.include({ status: "confirmed" });
    const late = await desk.name(refund, "cd".repeat(32));
    expect(late.body["code"]).to.equal("refund_not_requested");
    const types = (
      await desk.counter.app.app.db.find(events, "WHERE object_id = $1 ORDER BY id", [
        String(refund["id"]),
      ])
    ).map(({ type }) => type);
    expect(types.slice(0, 3)).to.deep.equal(["refund.requested", "refund.sent", "refund.reverted"]);
    expect(types.at(-1)).to.equal("refund.confirmed");
  });

  it("are requested again once a reorganization has removed their transaction", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    const payer = desk.newAddress();
    await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
    const refund = await desk.refundOf(invoice);
    await desk.counter.mine(3);
    const sent = await desk.give(payer, refund["amount"]);
    await expectStatus(desk.name(refund, sent), 200);
    await desk.examine();
    await desk.counter.reorganize(1, { drop: true });
    for (let attempt = 0; attempt < 18; attempt += 1) await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({
      status: "requested",
      refusal: "reverted",
      refusedTransactionHash: `0x${sent}`,
    });
  });

  it.onBoth("take one transaction once, however many refunds name it at once", async () => {
    const refunds: Json[] = [];
    for (let count = 0; count < 2; count += 1) {
      const { invoice, hash } = await canceledWith();
      await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
      refunds.push(await desk.refundOf(invoice));
    }
    for (const digit of ["a1", "a2", "a3"]) {
      const answers = await Promise.all(
        refunds.map((refund) => desk.name(refund, digit.repeat(32))),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      expect(answers.map(({ body }) => body["code"])).to.include("transaction_used");
      for (const [place, { status }] of answers.entries()) {
        if (status !== 200) continue;
        const free = await desk.name(refunds[place] ?? {}, digit.replace("a", "b").repeat(32));
        expect(free.status).to.equal(200);
      }
    }
  });

  it("prove one refund with each transaction", async () => {
    const payer = desk.newAddress();
    const made: Json[] = [];
    for (const amount of ["3.10", "3.20"]) {
      const invoice = await desk.issue({ amount });
      await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
      const hash = await desk.paid(invoice);
      await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
      made.push(await desk.refundOf(invoice));
    }
    const [one = {}, other = {}] = made;
    const sent = await desk.give(payer, "6.30");
    await expectStatus(desk.name(one, sent), 200);
    const twice = await desk.name(other, sent);
    expect(twice.body["code"]).to.equal("transaction_used");
  });

  it("are withdrawn when the merchant accepts or allocates the payment after all", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
    const refund = await desk.refundOf(invoice);
    await expectStatus(desk.post(`/payments/${String(refund["paymentId"])}/accept`), 200);
    expect(await desk.refundOf(invoice)).to.include({
      status: "rejected",
      refusal: "surplus_gone",
      reason: null,
    });
    const named = await desk.name(refund, "ab".repeat(32));
    expect(named.body["code"]).to.equal("refund_not_requested");
  });

  it("are rejected with a reason that the payer sees, and can be asked for again", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
    const refund = await desk.refundOf(invoice);
    const path = `/refunds/${String(refund["id"])}/reject`;
    await expectStatus(desk.post(path, { reason: "Wrong address, we wrote to you" }), 200);
    expect((await desk.post(path, { reason: "Again" })).body["code"]).to.equal(
      "refund_not_requested",
    );
    const session = await desk.session(invoice);
    expect(session["canRequestRefund"]).to.equal(true);
    expect((session["refunds"] as Json[])[0]).to.include({
      status: "rejected",
      reason: "Wrong address, we wrote to you",
    });
    await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
  });

  it("are the merchant's alone once he has rejected three requests of the payer, who reads why", async () => {
    const invoice = await desk.issue();
    await desk.expire(invoice);
    const hash = await desk.paid(invoice, "10.00");
    await allocate(invoice, "10.00");
    await desk.counter.mine(3);
    const paymentId = await paymentBy(invoice);
    const reject = async (reason: string) => {
      const [open] = await desk.refunds(`?paymentId=${String(paymentId)}&status=requested`);
      await expectStatus(desk.post(`/refunds/${String(open?.["id"])}/reject`, { reason }), 200);
    };
    // The merchant's own refunds are not counted.
    await expectStatus(create(paymentId), 201);
    await reject("A slip");
    for (const reason of ["Not this address", "Nor this one", "Write to us <first>"]) {
      expect(await desk.session(invoice)).to.include({ canRequestRefund: true });
      await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
      await reject(reason);
    }
    expect(await desk.session(invoice)).to.include({
      canRequestRefund: false,
      nextAction: "contact_merchant",
    });
    const refused = await desk.ask(invoice, hash, `0x${desk.newAddress()}`);
    expect(refusal(refused, "too_many_refund_requests"))
      .to.include("rejected 3 requests")
      .and.include("Contact the merchant");
    const ask = { transactionHash: hash, address: `0x${desk.newAddress()}` };
    const path = `/pay/${String(invoice["checkoutId"])}`;
    const sent = await desk.counter.app.request("POST", `${path}/refund`, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      raw: new URLSearchParams({ ...ask, pageToken: desk.pageToken(invoice) }).toString(),
    });
    expect(sent.status, "the page says the rest").to.equal(303);
    const page = await desk.counter.app.request("GET", path);
    expect(page.text)
      .to.include("Reason: Write to us &lt;first&gt;")
      .and.include("about the 10.00");
    await expectStatus(create(paymentId), 201);
  });

  it("refuse addresses at which the money would be lost, and amounts above the surplus", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    const network = sandboxOf(desk.counter.app.app)?.network;
    const contract = network?.tokens[0]?.contract ?? "";
    const faults = new Map([
      [`0x${"0".repeat(40)}`, "422 refund_address_refused"],
      [`0x${contract}`, "422 refund_address_refused"],
      [`0x${desk.address}`, "422 refund_address_refused"],
      ["TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "400 invalid_request"],
      ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD00", "400 invalid_request"],
      ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", "400 invalid_request"],
      ["nobody", "400 invalid_request"],
    ]);
    for (const [address, expected] of faults) {
      const { status, body, text } = await desk.ask(invoice, hash, address);
      expect(`${String(status)} ${String(body["code"])}`, address).to.equal(expected);
      if (status === 400) expect(text).not.to.include(address);
    }
    expect((await desk.ask(invoice, "12", `0x${desk.newAddress()}`)).status).to.equal(400);
    const foreign = await desk.ask(invoice, "ab".repeat(32), `0x${desk.newAddress()}`);
    expect(foreign.body["code"]).to.equal("not_refundable");
    const [payment] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    const create = (body: Json) =>
      desk.post("/refunds", {
        paymentId: payment?.["id"],
        address: `0x${desk.newAddress()}`,
        ...body,
      });
    const more = await create({ amount: sumOf(invoice, 0.000001) });
    expect(more.body["code"]).to.equal("refund_too_large");
    expect((await create({ amount: "0" })).status).to.equal(400);
    expect((await create({ amount: "1.00", address: `0x${contract}` })).status).to.equal(422);
    expect(await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).to.deep.equal([]);
    const stranger = await desk.counter.merchant();
    const theirs = await desk.counter.post(stranger, "/refunds", {
      paymentId: payment?.["id"],
      amount: "1.00",
      address: `0x${desk.newAddress()}`,
    });
    expect(theirs.status).to.equal(404);
  });

  it("are examined again if the final block of their transaction was replaced", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const refund = await refunded(invoice, await desk.paid(invoice));
    await desk.counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE refunds SET block_height = block_height + 1000 WHERE id = $1", [
        String(refund["id"]),
      ]),
    );
    await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({ status: "sent", confirmedAt: null });
    await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({ status: "confirmed" });
  });

  it("are asked for on the page, where the whole address is confirmed before it is stored", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const transactionHash = await desk.paid(invoice);
    const path = `/pay/${String(invoice["checkoutId"])}`;
    const page = async () => (await desk.counter.app.request("GET", path)).text;
    const send = (fields: Record<string, string>) =>
      fetch(`${desk.counter.app.url}${path}/refund`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ ...fields, pageToken: desk.pageToken(invoice) }),
      });
    const resultOf = (answer: Response) =>
      new URL(answer.headers.get("location") ?? "", "http://x").searchParams.get("refund");
    // The hash is filled in.
    expect(await page()).to.match(
      new RegExp(`id="refund-form"[^]*<input id="refund-hash"[^>]* value="0x${transactionHash}"`),
    );
    const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for (const [fields, field, refusal] of [
      [{ transactionHash: "12", address }, "refund-hash", "This is too short."],
      [{ transactionHash: "ab".repeat(32), address }, "refund-hash", "find anything to refund"],
      [{ transactionHash, address: '"nobody' }, "refund-address", "look like an address on"],
      [{ transactionHash, address: `0x${desk.address}` }, "refund-address", "not reach you"],
    ] as const) {
      const refused = await (await send(fields)).text();
      // Beside the field, and with everything that was entered.
      expect(refused).to.match(
        new RegExp(`id="refund-error">[^<]*${refusal}[^<]*</p>\\s*<input id="${field}"`),
      );
      expect(refused)
        .to.match(/id="refund-form" open/)
        .and.to.include("#refund-form");
      for (const given of Object.values(fields)) {
        expect(refused).to.include(` value="${given.replace('"', "&quot;")}"`);
      }
    }
    const asked = await send({ transactionHash, address: address.toLowerCase() });
    expect(asked.status).to.equal(200);
    expect(await asked.text()).to.include(`<p class="address" translate="no" dir="ltr">${address}`);
    expect(await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).to.deep.equal([]);
    const confirmed = { transactionHash, address, amount: String(invoice["payableAmount"]) };
    expect(resultOf(await send(confirmed))).to.equal("received");
    expect(resultOf(await send(confirmed))).to.equal("already");
    const shown = await page();
    expect(shown).to.include("0x5aAe").and.to.include("requested");
    expect(shown).not.to.include(address).and.not.to.include('id="refund-form"');
    const created = await desk.post("/refunds", {
      paymentId: (await desk.refundOf(invoice))["paymentId"],
      amount: "1.00",
      address,
    });
    expect(created.body["code"]).to.equal("refund_open");
    expect(created.body["detail"]).to.match(/ is requested\. Send or reject it first\.$/);
  });

  async function canceledWith(amount?: unknown): Promise<{ invoice: Json; hash: string }> {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    return { invoice, hash: await desk.paid(invoice, amount) };
  }
  const run = (sql: string, values: (string | number)[]) =>
    desk.counter.app.app.db.write(testContext, (tx) => tx.run(sql, values));
  const submit = async (invoice: Json, transactionHash: string) => {
    const path = `/v1/checkout/${String(invoice["checkoutId"])}/transactions`;
    await expectStatus(desk.counter.app.request("POST", path, { body: { transactionHash } }), 202);
    await desk.examine();
  };

  /** Returns why a refund is not created or not sent. */
  const refusal = ({ status, body }: Answer, code = "refund_too_early") => {
    expect([status, body["code"]]).to.deep.equal([409, code]);
    return String(body["detail"]);
  };
  const create = (paymentId: unknown) =>
    desk.post("/refunds", { paymentId, amount: "1.00", address: `0x${desk.newAddress()}` });
  const paymentBy = async (invoice: Json) => {
    const [found] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    return found?.["id"];
  };
  /** Allocates the newest transfer to an invoice. Returns the payment's id. */
  const allocate = async (invoice: Json, amount: string) => {
    const transfer = await desk.inboxed();
    const allocations = [{ invoiceId: invoice["id"], amount }];
    const path = `/transfers/${String(transfer?.["id"])}/allocate`;
    await expectStatus(desk.post(path, { allocations }), 200);
    return paymentBy(invoice);
  };

  /** Pays an invoice in parts, each of which is confirmed. Returns their hashes, oldest first. */
  const paidInParts = async (invoice: Json, amounts: readonly string[]) => {
    const hashes: string[] = [];
    for (const amount of amounts) {
      hashes.push(await desk.paid(invoice, amount));
      await allocate(invoice, amount);
      await desk.counter.mine(3);
    }
    return hashes;
  };

  it("are asked for with the hash that the session names, newest payment first", async () => {
    const invoice = await desk.issue();
    const hashes = (await paidInParts(invoice, ["10.00", "5.00"])).reverse();
    expect(await desk.session(invoice)).to.include({ refundable: null });
    await desk.expire(invoice);
    for (const [place, hash] of hashes.entries()) {
      const { refundable } = await desk.session(invoice);
      const amount = place === 0 ? "5.00" : "10.00";
      const ask = { transactionHash: `0x${hash}`, amount, tokenSymbol: "USDT" };
      expect(refundable).to.include(ask);
      await expectStatus(desk.ask(invoice, ask.transactionHash, `0x${desk.newAddress()}`), 202);
    }
    expect(await desk.session(invoice)).to.include({ refundable: null });
    const refunds = await desk.refunds(`?invoiceId=${String(invoice["id"])}`);
    expect(refunds.map(({ amount }) => amount)).to.deep.equal(["10.00", "5.00"]);
  });

  it("are not created for a payment that is held, or whose block is not final", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const early = await desk.pay(invoice["payableAmount"]);
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(false);
    const tooEarly = await desk.ask(invoice, early, `0x${desk.newAddress()}`);
    expect(refusal(tooEarly)).to.match(/has \d of about \d\d confirmations\. Send the same/);
    // Providers are asked about it in its final block only, so they do not disagree before.
    expect(refusal(await create(await paymentBy(invoice))))
      .to.include("must be final")
      .and.include(`${String(finalBlocks - 1)} confirmations. It has 3.`);

    const part = await desk.issue();
    const hash = await desk.paid(part, "10.00");
    const payment = await allocate(part, "10.00");
    await desk.counter.mine(3);
    await desk.expire(part);
    expect((await desk.session(part))["canRequestRefund"]).to.equal(true);
    // As the verifier leaves it when a provider contradicts the scan.
    const where = "WHERE invoice_id = $1";
    await run(`UPDATE payments SET status = 'confirming', version = version + 1 ${where}`, [
      String(part["id"]),
    ]);
    expect((await desk.session(part))["canRequestRefund"]).to.equal(false);
    const held = await desk.ask(part, hash, `0x${desk.newAddress()}`);
    expect(held.body["code"]).to.equal("refund_too_early");
    expect(refusal(await create(payment)))
      .to.include(`have not agreed on the transfer of ${String(payment)}`)
      .and.include("do not send anything before");
    await run(`UPDATE payments SET status = 'confirmed', version = version + 1 ${where}`, [
      String(part["id"]),
    ]);
    await expectStatus(desk.ask(part, hash, `0x${desk.newAddress()}`), 202);
  });

  it("return the money of a paid order once its payment is reversed, as the refusal says", async () => {
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const payment = await paymentBy(invoice);
    expect(refusal(await create(payment), "not_refundable"))
      .to.include(`needs all of ${String(payment)}`)
      .and.include(`reverse the payment first (POST …/payments/${String(payment)}/reverse)`);
    const reverse = (paymentId: unknown) =>
      desk.post(`/payments/${String(paymentId)}/reverse`, { cancel: true });
    await expectStatus(reverse(payment), 200);
    const canceled = await desk.read(invoice);
    expect(canceled).to.include({ status: "canceled", paidTokenAmount: "0.00" });
    expect((await desk.session(invoice))["nextAction"]).not.to.equal("pay");
    await desk.counter.mine(finalBlocks);
    await expectStatus(create(payment), 201);
    const refund = await desk.refundOf(invoice);
    expect(refund).to.include({ status: "requested", amount: "1.00" });
    const { payableAmount } = invoice;
    expect(await aside(invoice)).to.deep.equal({ owedAmount: payableAmount, reviewAmount: "0.00" });
    await expectStatus(desk.name(refund, "ab".repeat(32)), 200);
    const rest = (Number(payableAmount) - 1).toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");
    expect(await aside(invoice)).to.deep.equal({ owedAmount: rest, reviewAmount: "0.00" });
    const path = `/refunds/${String(refund["id"])}/reject`;
    await expectStatus(desk.post(path, { reason: "Not sent" }), 200);
    expect(await aside(invoice)).to.deep.equal({ owedAmount: payableAmount, reviewAmount: "0.00" });
  });

  it("find a reversed payment whose invoice has others as it was, if the invoice was to be canceled too", async () => {
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const canceled = await desk.post(`/invoices/${String(invoice["id"])}/cancel`);
    expect(refusal(canceled, "invoice_not_cancelable")).to.match(
      / is paid, and pay_\w+ counts for it\. Reverse this payment with `cancel`/,
    );
    await desk.pay("10.00");
    const second = await allocate(invoice, "10.00");
    await desk.counter.mine(3);
    const before = await desk.read(invoice);
    const refused = await desk.post(`/payments/${String(second)}/reverse`, { cancel: true });
    const [first] = (
      await desk.counter.list(desk.merchant, `/payments?invoiceId=${String(invoice["id"])}`)
    ).slice(-1);
    expect(refusal(refused, "invoice_not_cancelable")).to.equal(
      `Nothing was changed, because ${String(first?.["id"])} counts for ${String(invoice["id"])} too. Reverse it first without \`cancel\`, then ${String(second)} again with \`cancel\`.`,
    );
    expect(await desk.read(invoice)).to.deep.equal(before);
    const kept = await desk.counter.get(desk.merchant, `/payments/${String(second)}`);
    expect(kept).to.include({ status: "confirmed" });
    // The older one of two has no surplus, and the refusal leads to the one that has.
    expect(refusal(await create(first?.["id"]), "not_refundable"))
      .to.include("If the invoice has an excess, another of its payments has it")
      .and.include(`/payments?invoiceId=${String(invoice["id"])})`);
    // As the refusal says.
    const path = `/payments/${String(first?.["id"])}/reverse`;
    await expectStatus(desk.post(path, { cancel: false }), 200);
    await expectStatus(desk.post(`/payments/${String(second)}/reverse`, { cancel: true }), 200);
    const { payableAmount } = invoice;
    expect(await desk.read(invoice)).to.include({ status: "canceled" });
    const owed = (Number(payableAmount) + 10).toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");
    expect(await aside(invoice)).to.deep.equal({ owedAmount: owed, reviewAmount: "0.00" });
  });

  it("name all payments that count before the last one is reversed with its invoice", async () => {
    const invoice = await desk.issue();
    const parts: unknown[] = [];
    for (const _ of ["one", "two", "three", "four", "five"]) {
      await desk.pay("4.00");
      parts.push(await allocate(invoice, "4.00"));
    }
    const [one, two, three] = parts.map(String);
    const canceled = await desk.post(`/invoices/${String(invoice["id"])}/cancel`);
    expect(refusal(canceled, "invoice_not_cancelable")).to.include(
      `and 5 payments count for it: ${String(one)}, ${String(two)}, ${String(three)} and 2 more. Reverse all of them, the last one with`,
    );
    const last = parts.pop();
    const refused = await desk.post(`/payments/${String(last)}/reverse`, { cancel: true });
    expect(refusal(refused, "invoice_not_cancelable")).to.include(
      `${String(one)}, ${String(two)}, ${String(three)} and 1 more count for ${String(invoice["id"])} too. Reverse them first without \`cancel\`, then ${String(last)} again with \`cancel\`.`,
    );
  });

  it("are refused of each payment of an invoice that needs all of them", async () => {
    const invoice = await desk.issue();
    await desk.pay("4.00");
    const older = await allocate(invoice, "4.00");
    const { remainingAmount } = await desk.read(invoice);
    await desk.paid(invoice, remainingAmount);
    expect(await desk.read(invoice)).to.include({ status: "paid", exception: "none" });
    const newest = await paymentBy(invoice);
    expect(refusal(await create(older), "not_refundable")).to.include(
      "If the invoice has an excess",
    );
    expect(refusal(await create(newest), "not_refundable")).to.include(
      "If the invoice has an excess",
    );
  });

  it("are owed by the invoice that had the money last, and only once for each part", async () => {
    const [one, other] = [await desk.issue(), await desk.issue()];
    const reverse = (paymentId: unknown) =>
      expectStatus(desk.post(`/payments/${String(paymentId)}/reverse`), 200);
    const owed = async () => [(await aside(one))["owedAmount"], (await aside(other))["owedAmount"]];
    await desk.pay("10.00");
    const first = await allocate(one, "6.00");
    await reverse(first);
    expect(await owed()).to.deep.equal(["6.00", "0.00"]);
    const again = await allocate(one, "5.00");
    expect(await owed()).to.deep.equal(["1.00", "0.00"]);
    await reverse(again);
    expect(await owed()).to.deep.equal(["10.00", "0.00"]);
    const moved = await allocate(other, "8.00");
    expect(await owed()).to.deep.equal(["2.00", "0.00"]);
    await reverse(moved);
    expect(await owed()).to.deep.equal(["2.00", "8.00"]);
    await migratedAgain();
  });

  /** An invoice that was paid, and to which another transfer of 10.00 was allocated. */
  async function paidAndAllocated() {
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const first = String(await paymentBy(invoice));
    await desk.pay("10.00");
    const second = await allocate(invoice, "10.00");
    await desk.counter.mine(3);
    return { first, second };
  }

  it("are not created of confirmed money for an excess that is not confirmed", async () => {
    const { first, second } = await paidAndAllocated();
    const mark = (status: string) =>
      run("UPDATE payments SET status = $2, version = version + 1 WHERE id = $1", [first, status]);
    // As the verifier leaves a payment that only one provider has.
    await mark("confirming");
    expect(refusal(await create(second))).to.include(
      `${first} of the same invoice is not confirmed`,
    );
    await mark("confirmed");
    await expectStatus(create(second), 201);
  });

  it("wait for a payment of their own invoice, not for one of another that shares its transfer", async () => {
    const other = await desk.issue();
    await desk.paid(other);
    const foreign = String(await paymentBy(other));
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const first = String(await paymentBy(invoice));
    await desk.pay("20.00");
    const transfer = await desk.inboxed();
    const allocations = [other, invoice].map(({ id }) => ({ invoiceId: id, amount: "10.00" }));
    const path = `/transfers/${String(transfer?.["id"])}/allocate`;
    await expectStatus(desk.post(path, { allocations }), 200);
    await desk.counter.mine(3);
    const second = await paymentBy(invoice);
    const mark = (id: string, status: string) =>
      run("UPDATE payments SET status = $2, version = version + 1 WHERE id = $1", [id, status]);
    await mark(foreign, "confirming");
    await mark(first, "confirming");
    expect(refusal(await create(second))).to.include(
      `${first} of the same invoice is not confirmed`,
    );
    await mark(first, "confirmed");
    await expectStatus(create(second), 201);
    await mark(foreign, "confirmed");
  });

  it("are not sent of an excess that is gone, however much of it was refunded before", async () => {
    const { first, second } = await paidAndAllocated();
    const requested = async (amount: string) => {
      const payer = desk.newAddress();
      const input = { paymentId: second, amount, address: `0x${payer}` };
      const refund = (await expectStatus(desk.post("/refunds", input), 201)).body;
      return { refund, hash: await desk.give(payer, amount) };
    };
    const half = await requested("5.00");
    await expectStatus(desk.name(half.refund, half.hash), 200);
    await desk.settle();
    const { refund, hash } = await requested("5.00");
    const mark = (status: string) =>
      run("UPDATE payments SET status = $2, version = version + 1 WHERE id = $1", [first, status]);
    const check = refundChecks.find(({ name }) => name === "refunds.surplus");
    const faulty = async () =>
      (await check?.run(desk.counter.app.app.db))?.map(({ row }) => row) ?? null;
    await mark("confirming");
    expect(refusal(await desk.name(refund, hash), "not_refundable")).to.include(
      "no longer has this surplus",
    );
    expect(await faulty()).to.deep.equal([second]);
    // A reorganization takes an excess away after its refund, and may bring it back.
    await mark("reverted");
    expect(await faulty()).to.deep.equal([]);
    await mark("confirmed");
    await expectStatus(desk.name(refund, hash), 200);
  });

  it("are not created while a payment that counts has too few confirmations, or is off the chain", async () => {
    const invoice = await desk.issue();
    await desk.pay("41.00", 1);
    const young = await allocate(invoice, "41.00");
    expect(refusal(await create(young))).to.include(`${String(young)} has 1 of its 3 confirm`);
    await desk.counter.reorganize(1, { drop: true });
    expect(refusal(await create(young))).to.include(`${String(young)} is not on the chain`);
  });

  it("are refused for good, not too early, if no waiting gives the payment a surplus", async () => {
    const invoice = await desk.issue();
    await desk.pay(invoice["payableAmount"], 1);
    const paying = await paymentBy(invoice);
    expect(refusal(await create(paying), "not_refundable")).to.include(`all of ${String(paying)}`);
    const part = await desk.issue();
    await desk.pay("7.00", 1);
    const waiting = await allocate(part, "7.00");
    expect(refusal(await create(waiting), "not_refundable")).to.include("needs all of");
    await desk.counter.reorganize(1, { drop: true });
    expect(refusal(await create(paying), "not_refundable")).to.include("needs all of");
    // Named on the page of an invoice that can still be paid.
    const hash = await desk.pay("8.00", 1);
    await submit(part, hash);
    expect(refusal(await create(await paymentBy(part)), "not_refundable"))
      .to.include("in review")
      .and.include("/reject");
    await desk.counter.mine(finalBlocks);
    const over = await desk.issue();
    await desk.pay("40.00", 1);
    const free = await allocate(over, "40.00");
    expect(refusal(await create(free))).to.include("confirmations");
    await expectStatus(desk.post(`/payments/${String(free)}/reverse`), 200);
    const moved = await desk.issue();
    await allocate(moved, "40.00");
    expect(refusal(await create(free), "not_refundable")).to.include("another payment of its");
  });

  it("are held until providers have verified the transfer of a payment that does not count", async () => {
    const invoice = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const hash = await desk.paid(invoice);
    const [found] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    const payment = String(found?.["id"]);
    const isVerified = async () =>
      (await desk.counter.get(desk.merchant, `/payments/${payment}`))["isVerified"];
    // As the watcher leaves it while a second provider does not have the transfer.
    const verification = (is: string) =>
      run("UPDATE transfers SET verification = $2 WHERE transaction_hash = $1", [hash, is]);
    const ask = () => desk.ask(invoice, hash, `0x${desk.newAddress()}`);
    const create = () =>
      desk.post("/refunds", {
        paymentId: payment,
        amount: "1.00",
        address: `0x${desk.newAddress()}`,
      });
    expect(await isVerified()).to.equal(true);
    await expectStatus(ask(), 202);
    const refund = await desk.refundOf(invoice);
    await verification("skipped");
    expect(await isVerified()).to.equal(false);
    const held = await desk.name(refund, "ab".repeat(32));
    expect([held.status, held.body["code"]]).to.deep.equal([409, "refund_too_early"]);
    expect(held.body["detail"]).to.include("have not agreed on the transfer").and.include(payment);
    // As a reorganization leaves it in a new block, about which no provider was asked yet.
    const moved = "UPDATE transfers SET verification = 'open', is_final = $2";
    await run(`${moved} WHERE transaction_hash = $1`, [hash, 0]);
    expect(refusal(await desk.name(refund, "ab".repeat(32)))).to.include("must be final");
    await run(`${moved} WHERE transaction_hash = $1`, [hash, 1]);
    await verification("skipped");
    expect(await desk.refundOf(invoice)).to.include({ status: "requested" });
    const rejection = `/refunds/${String(refund["id"])}/reject`;
    await expectStatus(desk.post(rejection, { reason: "No such payment." }), 200);
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(false);
    for (const refused of [await ask(), await create()]) {
      expect([refused.status, refused.body["code"]]).to.deep.equal([409, "refund_too_early"]);
    }
    // A decision has the providers asked again about a transfer of an earlier version.
    await expectStatus(desk.post(`/payments/${payment}/reject`), 200);
    await desk.counter.mine();
    expect(await isVerified()).to.equal(true);
    expect((await desk.inboxed())?.["isVerified"]).to.equal(true);
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(true);
    await expectStatus(create(), 201);
  });

  it("take another transaction, or are rejected, until the named one is in a block", async () => {
    const { invoice, hash } = await canceledWith();
    const payer = desk.newAddress();
    await expectStatus(desk.ask(invoice, hash, `0x${payer}`), 202);
    const refund = await desk.refundOf(invoice);
    await expectStatus(desk.name(refund, "ab".repeat(32)), 200);
    await desk.examine();
    const reject = () =>
      desk.post(`/refunds/${String(refund["id"])}/reject`, { reason: "Not now" });
    const sped = await desk.give(payer, refund["amount"]);
    await expectStatus(desk.name(refund, sped), 200);
    await desk.examine();
    expect(await desk.refundOf(invoice)).to.include({
      status: "sent",
      transactionHash: `0x${sped}`,
    });
    expect((await desk.name(refund, "cd".repeat(32))).body["code"]).to.equal(
      "refund_not_requested",
    );
    expect((await reject()).body["code"]).to.equal("refund_not_requested");
    await desk.settle();
    expect(await desk.refundOf(invoice)).to.include({ status: "confirmed" });

    const other = await canceledWith();
    await expectStatus(desk.ask(other.invoice, other.hash, `0x${payer}`), 202);
    const second = await desk.refundOf(other.invoice);
    await expectStatus(desk.name(second, "ef".repeat(32)), 200);
    const path = `/refunds/${String(second["id"])}/reject`;
    await expectStatus(desk.post(path, { reason: "Lost" }), 200);
    await expectStatus(desk.ask(other.invoice, other.hash, `0x${payer}`), 202);
  });

  it("are not suggested of somebody else's payment, whose public hash anyone may submit", async () => {
    const invoice = await desk.issue();
    await desk.paid(invoice);
    const own = await desk.paid(invoice, "5.00");
    await allocate(invoice, "5.00");
    const foreign = await desk.paid(invoice, "333.00");
    await submit(invoice, foreign);
    const session = await desk.session(invoice);
    expect(session["refundable"]).to.include({ transactionHash: `0x${own}`, amount: "5.00" });
    expect(session["paymentInstructions"]).to.include(" 5.00 USDT more has arrived");
    // Nothing else is left then: the submitted one may be the payer's own.
    await expectStatus(desk.ask(invoice, own, `0x${desk.newAddress()}`), 202);
    expect((await desk.session(invoice))["refundable"]).to.include({ amount: "333.00" });
  });

  it("are of the payment that the session names, also if another has the same transaction", async () => {
    const invoice = await desk.issue();
    const [older = "", newer = ""] = await paidInParts(invoice, ["10.00", "5.00"]);
    await desk.expire(invoice);
    const [small, large] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    const rename = (hash: string) =>
      run("UPDATE payments SET transaction_hash = $1, version = version + 1 WHERE id = $2", [
        hash,
        String(small?.["id"]),
      ]);
    // The sandbox has one transfer in each transaction.
    await rename(older);
    const partly = { paymentId: large?.["id"], amount: "1.00", address: `0x${desk.newAddress()}` };
    await expectStatus(desk.post("/refunds", partly), 201);
    const { refundable } = await desk.session(invoice);
    expect(refundable).to.include({ amount: "5.00" });
    const ask = () => desk.ask(invoice, older, `0x${desk.newAddress()}`);
    await expectStatus(ask(), 202);
    const amounts = (await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).map(
      ({ amount }) => amount,
    );
    expect(amounts).to.deep.equal(["5.00", "1.00"]);
    expect(await desk.session(invoice)).to.include({ refundable: null });
    await rename(newer);
    const itsRefund = "WHERE payment_id = $2";
    await run(`UPDATE refunds SET payment_hash = $1, version = version + 1 ${itsRefund}`, [
      newer,
      String(small?.["id"]),
    ]);
  });

  it("do not let a stranger's request block the payer's, and the first one sent wins", async () => {
    // Two invoices of ended payments; both payers name the same transfer, which nothing had matched.
    const [stranger, victim] = [await desk.issue(), await desk.issue()];
    for (const { id } of [stranger, victim]) {
      await expectStatus(desk.post(`/invoices/${String(id)}/cancel`), 200);
    }
    const hash = await desk.paid(victim, "7.77");
    await submit(stranger, hash);
    await submit(victim, hash);
    await expectStatus(desk.ask(stranger, hash, `0x${desk.newAddress()}`), 202);
    expect((await desk.session(victim))["canRequestRefund"]).to.equal(true);
    const payer = desk.newAddress();
    await expectStatus(desk.ask(victim, hash, `0x${payer}`), 202);
    const refund = await desk.refundOf(victim);
    const foreign = await desk.refundOf(stranger);
    expect(refund).to.include({ paymentRule: "submitted_hash", amount: "7.77" });
    await expectStatus(desk.name(refund, await desk.give(payer, "7.77")), 200);
    expect(await desk.refundOf(stranger)).to.include({
      status: "rejected",
      refusal: "surplus_gone",
      reason: null,
    });
    expect((await desk.name(foreign, "ab".repeat(32))).body["code"]).to.equal(
      "refund_not_requested",
    );
    expect((await desk.session(stranger))["canRequestRefund"]).to.equal(false);
    await desk.settle();
    expect(await desk.refundOf(victim)).to.include({ status: "confirmed" });
  });

  it("are owed of a submitted hash's payment only if the merchant accepted it before", async () => {
    const owed: unknown[] = [];
    for (const isAccepted of [false, true]) {
      const invoice = await desk.issue();
      await submit(invoice, await desk.paid(invoice, "6.66"));
      const { data } = (await desk.counter.get(
        desk.merchant,
        `/payments?invoiceId=${String(invoice["id"])}`,
      )) as { data: readonly Json[] };
      const path = `/payments/${String(data[0]?.["id"])}`;
      if (isAccepted) {
        await expectStatus(desk.post(`${path}/accept`), 200);
        await expectStatus(desk.post(`${path}/reverse`), 200);
      } else {
        await expectStatus(desk.post(`${path}/reject`), 200);
      }
      owed.push(await aside(invoice));
    }
    expect(owed).to.deep.equal([
      { owedAmount: "0.00", reviewAmount: "0.00" },
      { owedAmount: "6.66", reviewAmount: "0.00" },
    ]);
  });

  it("are the merchant's alone once he has rejected one of a submitted hash", async () => {
    const [invoice, twin] = [await desk.issue(), await desk.issue()];
    for (const { id } of [invoice, twin]) {
      await expectStatus(desk.post(`/invoices/${String(id)}/cancel`), 200);
    }
    const hash = await desk.paid(invoice, "8.88");
    await submit(invoice, hash);
    await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
    const refund = await desk.refundOf(invoice);
    const path = `/refunds/${String(refund["id"])}/reject`;
    await expectStatus(desk.post(path, { reason: "Not yours" }), 200);
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(false);
    const again = await desk.ask(invoice, hash, `0x${desk.newAddress()}`);
    expect(again.body["code"]).to.equal("not_refundable");
    const { paymentId } = refund;
    const own = { paymentId, amount: "8.88", address: `0x${desk.newAddress()}` };
    await expectStatus(desk.post("/refunds", own), 201);
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "8.88" });
    // Nobody knows whose money a rejected hash is, until the merchant has accepted it once.
    const decide = (decision: string) =>
      expectStatus(desk.post(`/payments/${String(paymentId)}/${decision}`), 200);
    await submit(twin, hash);
    const [named] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(twin["id"])}`,
    );
    await expectStatus(desk.post(`/payments/${String(named?.["id"])}/reject`), 200);
    expect(await aside(twin)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "0.00" });
    await decide("accept");
    await desk.counter.mine(3);
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "8.88", reviewAmount: "0.00" });
    await decide("reverse");
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "8.88", reviewAmount: "0.00" });
    await migratedAgain();
  });

  it("are not offered of money that another invoice has, nor while the invoice is payable", async () => {
    const { invoice, hash } = await canceledWith();
    const [payment] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    await expectStatus(desk.post(`/payments/${String(payment?.["id"])}/reject`), 200);
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(true);
    const { payableAmount } = invoice;
    expect(await aside(invoice)).to.deep.equal({ owedAmount: payableAmount, reviewAmount: "0.00" });
    const other = await desk.issue();
    const transfer = await desk.inboxed();
    await expectStatus(
      desk.post(`/transfers/${String(transfer?.["id"])}/allocate`, {
        allocations: [{ invoiceId: other["id"], amount: transfer?.["amount"] }],
      }),
      200,
    );
    expect((await desk.session(invoice))["canRequestRefund"]).to.equal(false);
    expect((await desk.ask(invoice, hash, `0x${desk.newAddress()}`)).status).to.equal(409);
    expect(await aside(invoice)).to.deep.equal({ owedAmount: "0.00", reviewAmount: "0.00" });

    const open = await desk.issue();
    await desk.paid(open, "9.99");
    const inbox = await desk.inboxed();
    await expectStatus(
      desk.post(`/transfers/${String(inbox?.["id"])}/allocate`, {
        allocations: [{ invoiceId: open["id"], amount: "9.99" }],
      }),
      200,
    );
    const [part] = await desk.counter.list(
      desk.merchant,
      `/payments?invoiceId=${String(open["id"])}`,
    );
    await expectStatus(desk.post(`/payments/${String(part?.["id"])}/reverse`), 200);
    expect((await desk.session(open))["canRequestRefund"]).to.equal(false);
    expect(await aside(open)).to.deep.equal({ owedAmount: "9.99", reviewAmount: "0.00" });
  });

  it("are asked for only with the token of the payment's own page", async () => {
    const { invoice, hash } = await canceledWith();
    const other = await desk.issue();
    const ask = (pageToken?: string) =>
      desk.counter.app.request("POST", `/v1/checkout/${String(invoice["checkoutId"])}/refund`, {
        body: { transactionHash: hash, address: `0x${desk.newAddress()}`, pageToken },
      });
    expect((await ask()).status).to.equal(400);
    for (const token of [desk.pageToken(other), String(invoice["checkoutId"])]) {
      const refused = await expectStatus(ask(token), 403);
      expect(refused.body["code"]).to.equal("not_from_payment_page");
    }
    expect(await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).to.deep.equal([]);
    await expectStatus(ask(desk.pageToken(invoice)), 202);
  });

  it("ask the payer once more if the amount has changed since the page showed it", async () => {
    const { invoice, hash } = await canceledWith();
    const address = `0x${desk.newAddress()}`;
    const form = (amount: string) =>
      desk.counter.app.request("POST", `/pay/${String(invoice["checkoutId"])}/refund`, {
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        raw: new URLSearchParams({
          transactionHash: hash,
          address,
          amount,
          pageToken: desk.pageToken(invoice),
        }).toString(),
      });
    const shown = await form("1.00");
    expect(shown.status).to.equal(200);
    expect(shown.text).to.contain(`name="amount" value="${String(invoice["payableAmount"])}"`);
    expect(await desk.refunds(`?invoiceId=${String(invoice["id"])}`)).to.deep.equal([]);
    expect((await form(String(invoice["payableAmount"]))).status).to.equal(303);
    expect(await desk.refundOf(invoice)).to.include({ amount: invoice["payableAmount"] });
  });

  it.onBoth("leave the store consistent when their invoice is reopened", async () => {
    const invoice = await desk.issue();
    const hash = await desk.paid(invoice, "6.66");
    const transfer = await desk.inboxed();
    await expectStatus(
      desk.post(`/transfers/${String(transfer?.["id"])}/allocate`, {
        allocations: [{ invoiceId: invoice["id"], amount: "6.66" }],
      }),
      200,
    );
    await desk.counter.mine(3);
    await desk.expire(invoice);
    await expectStatus(desk.ask(invoice, hash, `0x${desk.newAddress()}`), 202);
    const refund = await desk.refundOf(invoice);
    const set = (status: string) =>
      run("UPDATE invoices SET status = $2 WHERE id = $1", [String(invoice["id"]), status]);
    await set("partially_paid");
    const check = refundChecks.find(({ name }) => name === "refunds.surplus");
    expect(await check?.run(desk.counter.app.app.db)).to.deep.equal([]);
    const sent = await desk.name(refund, "ab".repeat(32));
    expect(sent.body["code"]).to.equal("not_refundable");
    await set("expired");
  });

  it.onBoth(
    "are not offered for less than dust, at an address of its own, above the amount that was asked for",
    async () => {
      const body = { label: "Own", network: "sandbox", xpub: xpubOf(7) };
      const { body: wallet } = await expectStatus(desk.post("/wallets", body), 201);
      const issue = (amount: string) =>
        desk.issue({ walletId: wallet["id"], amount, settlementCurrency: "USDT" });
      const pay = async (invoice: Json, amount: string) => {
        const to = String(invoice["walletAddress"]).slice(2).toLowerCase();
        const hash = await desk.counter.pay(to, usdt(amount));
        await desk.settle();
        return hash;
      };
      // The payer's wallet takes two decimals, so the payer rounds up.
      const rounded = await issue("27.113");
      const hash = await pay(rounded, "27.12");
      expect(await desk.read(rounded)).to.include({
        status: "paid",
        exception: "none",
        excessAmount: "0.00",
        owedAmount: "0.00",
        paidTokenAmount: "27.12",
        remainingAmount: "0.00",
      });
      expect(await desk.session(rounded)).to.include({
        state: "paid",
        nextAction: "none",
        canRequestRefund: false,
        refundable: null,
      });
      const invoiceEvents = await desk.counter.app.app.db.find(
        events,
        "WHERE object_id = $1 ORDER BY id",
        [String(rounded["id"])],
      );
      expect(invoiceEvents.map(({ type }) => type)).to.not.include("invoice.overpaid");
      const refused = await desk.ask(rounded, hash, `0x${desk.newAddress()}`);
      expect(refused.status).to.equal(409);
      const [payment] = await desk.counter.list(
        desk.merchant,
        `/payments?invoiceId=${String(rounded["id"])}`,
      );
      const asked = {
        paymentId: payment?.["id"],
        amount: "0.007",
        address: `0x${desk.newAddress()}`,
      };
      const { body: problem } = await expectStatus(desk.post("/refunds", asked), 409);
      expect(problem["detail"]).to.include(
        "Less than the token's minimum amount, which may be an excess, cannot be sent",
      );

      // Parts count together: each is a little too much, and all of them are too much by more than dust.
      const parts = await issue("30.00");
      await pay(parts, "30.006");
      expect(await desk.read(parts)).to.include({ exception: "none", excessAmount: "0.00" });
      await pay(parts, "0.01");
      expect(await desk.read(parts)).to.include({
        exception: "overpaid",
        excessAmount: "0.016",
        owedAmount: "0.016",
      });
      expect(await desk.session(parts)).to.include({ state: "overpaid", canRequestRefund: true });
      // The newest payment has at most its own amount of the excess; what is left of it cannot be sent.
      const refundable = (await desk.session(parts))["refundable"] as Json;
      await refunded(parts, String(refundable["transactionHash"]).slice(2));
      expect(await desk.read(parts)).to.include({ excessAmount: "0.016", owedAmount: "0.00" });
      expect(await desk.session(parts)).to.include({ canRequestRefund: false, nextAction: "none" });
    },
  );
});
