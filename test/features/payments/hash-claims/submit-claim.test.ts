import { expect } from "chai";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { presentClaim } from "../../../../src/features/payments/inbox/present-transfer.ts";
import { paymentClaims, payments } from "../../../../src/features/payments/table.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { auditLogs } from "../../../../src/platform/audit/table.ts";
import { makeSandbox } from "../../../../src/platform/chain/sandbox/chain.ts";
import { LeaseLost } from "../../../../src/platform/jobs/leases.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import { approvedMerchant, expectStatus, startApp, type TestApp } from "../../../support/app.ts";
import { eachStore } from "../../../support/store/stores.ts";

const tester = { actor: systemActor("tests"), requestId: null, ip: null };
const holding = () => Promise.resolve();

// Background workers are off, so that the test starts each scan.
eachStore("The claim examiner", (store) => {
  let app: TestApp;
  let invoiceId: Id<"invoice">;
  let hash: string;

  before(async function () {
    this.timeout(120_000);
    app = await startApp({ place: await store.place("migrated"), background: false });
    await sandbox().open(tester, 0);
    await look();
    const merchant = await approvedMerchant(app);
    const post = (path: string, body: unknown) =>
      app.request("POST", `/v1/organizations/${merchant.organizationId}${path}`, {
        key: merchant.key,
        body,
      });
    const wallet = { label: "Till", network: "sandbox", address: `0x${"7".repeat(40)}` };
    await expectStatus(post("/wallets", wallet), 201);
    const priced = { amount: "25.00", settlementCurrency: "USD" };
    const made = await expectStatus(
      post("/invoices", { ...priced, tokenSymbol: "USDT", network: "sandbox" }),
      201,
    );
    invoiceId = made.body["id"] as Id<"invoice">;
    hash = (await sandbox().pay(tester, invoiceId, 24_000_000n)).transactionHash;
    const path = `/v1/checkout/${String(made.body["checkoutId"])}/transactions`;
    await expectStatus(app.request("POST", path, { body: { transactionHash: hash } }), 202);
  });
  after(() => app.stop());

  function sandbox() {
    const { sandbox } = app.app;
    if (sandbox === null) throw new Error("the sandbox is off");
    return sandbox;
  }

  async function look(): Promise<void> {
    for (const watcher of app.app.watchers) while (await watcher.look(holding));
  }

  async function examine(guard: () => Promise<void> = holding): Promise<void> {
    app.clock.advance(minute);
    for (const examiner of app.app.examiners) await examiner.examine(guard);
  }

  async function claim() {
    const [row] = await app.app.db.find(paymentClaims, "WHERE invoice_id = $1", [invoiceId]);
    return row === undefined ? null : { state: row.state, attempts: row.attempts };
  }

  const opened = () => app.app.db.find(payments, "WHERE invoice_id = $1", [invoiceId]);

  it("waits while no block has the transaction, while a provider is away, and for the watcher", async () => {
    await examine();
    expect(await claim()).to.deep.equal({ state: "waiting", attempts: 1 });
    const chain = makeSandbox({
      network: sandbox().network,
      clock: app.clock,
      randomBytes: systemRandom,
    });
    await app.app.db.write(tester, (tx) => chain.disturb(tx, "stall", 2 * minute));
    await examine();
    expect(await claim()).to.deep.equal({ state: "waiting", attempts: 2 });
    await app.app.db.write(tester, (tx) => chain.disturb(tx, "stall", 0));
    await sandbox().mine(tester, 1);
    await examine();
    expect(await claim()).to.deep.equal({ state: "waiting", attempts: 3 });
    expect(await opened()).to.deep.equal([]);
  });

  it("is in the audit log with its transaction, once however often it is submitted", async () => {
    const { db } = app.app;
    const row = await db.findOne(invoices, "WHERE id = $1", [invoiceId]);
    const path = `/v1/checkout/${row?.checkoutId ?? ""}/transactions`;
    await expectStatus(app.request("POST", path, { body: { transactionHash: hash } }), 202);
    const entries = await db.find(
      auditLogs,
      "WHERE action = 'invoice.transaction_submitted' AND target_id = $1",
      [invoiceId],
    );
    expect(entries.map(({ changes }) => changes)).to.deep.equal([
      { transactionHash: hash.replace(/^0x/, "") },
    ]);
  });

  it("writes nothing after its lease is lost", async () => {
    await look();
    const before = await claim();
    let refused: unknown = null;
    try {
      await examine(() => Promise.reject(new LeaseLost("another process looks")));
    } catch (error) {
      refused = error;
    }
    expect(refused).to.be.instanceOf(LeaseLost);
    expect(await claim()).to.deep.equal(before);
    expect(await opened()).to.deep.equal([]);
  });

  it("opens one payment, however many examinations run concurrently", async () => {
    await Promise.all([examine(), examine(), examine()]);
    expect(await claim()).to.include({ state: "review" });
    expect(await opened()).to.have.length(1);
  });

  it("never drops claims that were not examined yet, and serializes concurrent submissions", async () => {
    const row = await app.app.db.findOne(invoices, "WHERE id = $1", [invoiceId]);
    const path = `/v1/checkout/${row?.checkoutId ?? ""}/transactions`;
    const submit = (digit: string) =>
      app.request("POST", path, { body: { transactionHash: digit.repeat(64) } });
    const statusesOf = async (digits: string) =>
      (await Promise.all(Array.from(digits, submit))).map(({ status }) => status).sort();
    // The claim in review is open too.
    expect(await statusesOf("123456")).to.deep.equal([202, 202, 202, 202, 409, 409]);
    expect((await submit("7")).body["code"]).to.equal("too_many_claims");
    await examine();
    expect(await statusesOf("789")).to.deep.equal([202, 202, 202]);
    const reasons = await app.app.db.find(paymentClaims, "WHERE invoice_id = $1", [invoiceId]);
    expect(reasons.filter(({ reason }) => reason === "displaced")).to.have.length(3);
    await app.app.db.write(tester, (tx) =>
      tx.run("DELETE FROM payment_claims WHERE invoice_id = $1 AND state <> 'review'", [invoiceId]),
    );
  });

  it("examines a refused claim from the start once its transaction is submitted again", async () => {
    const { db } = app.app;
    const row = await db.findOne(invoices, "WHERE id = $1", [invoiceId]);
    const path = `/v1/checkout/${row?.checkoutId ?? ""}/transactions`;
    const body = { transactionHash: "8".repeat(64) };
    const submit = () => expectStatus(app.request("POST", path, { body }), 202);
    const claims = () =>
      db.find(paymentClaims, "WHERE transaction_hash = $1", [body.transactionHash]);
    await submit();
    const [first] = await claims();
    await db.write(tester, (tx) =>
      tx.update(
        paymentClaims,
        { state: "refused", reason: "unknown", attempts: 9, closedAt: app.clock.now() },
        "WHERE id = $1",
        [first?.id ?? ""],
      ),
    );
    app.clock.advance(minute);
    const since = app.clock.now();
    await submit();
    const [again, ...others] = await claims();
    const { createdAt = 0 } = again ?? {};
    expect(createdAt).to.be.at.least(since);
    expect(again).to.deep.equal({ ...first, createdAt, nextAt: createdAt });
    expect(others).to.deep.equal([]);
    await db.write(tester, (tx) =>
      tx.run("DELETE FROM payment_claims WHERE id = $1", [first?.id ?? ""]),
    );
  });

  it("confirms a payment that is accepted long after it had its confirmations", async () => {
    await sandbox().mine(tester, 50);
    await look();
    const [payment] = await opened();
    if (payment === undefined) throw new Error("there is no payment");
    const { organizationId, id } = payment;
    // The operator's list goes on with the payment, as the payer's page does.
    const listed = async () => {
      const { data } = await app.app.transfers.listClaims(organizationId, { state: "review" });
      return data.map(presentClaim).map(({ state, result }) => [state, result]);
    };
    expect(await listed()).to.deep.equal([["review", "in_review"]]);
    const accepted = await app.app.decisions.accept(tester, organizationId, id);
    expect(accepted.payment.status).to.equal("confirming");
    expect(await listed()).to.deep.equal([["review", "counted"]]);
    await look();
    expect((await opened()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
  });
});
