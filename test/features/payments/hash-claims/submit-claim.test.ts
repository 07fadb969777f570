import { expect } from "chai";
import { examineRefunds } from "../../../../src/features/refunds/verification/examiner.ts";
import { networkReadersOf } from "../../../../src/features/payments/networks/readers.ts";
import {
  mineBlocks,
  openSandbox,
  payOnSandbox,
  sandboxOf,
} from "../../../../src/features/payments/sandbox/sandbox.ts";
import { listClaims } from "../../../../src/features/payments/inbox/transfers.ts";
import { acceptPayment } from "../../../../src/features/payments/decisions/decide-payment.ts";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { submitClaim } from "../../../../src/features/payments/hash-claims/submit-claim.ts";
import { presentClaim } from "../../../../src/features/payments/inbox/records.ts";
import { paymentClaims, payments, type ClaimRow } from "../../../../src/features/payments/table.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { makeSandbox } from "../../../../src/platform/chain/sandbox/chain.ts";
import { LeaseLost } from "../../../../src/platform/jobs/leases.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { approvedMerchant, expectStatus, startApp, type TestApp } from "../../../support/app.ts";
import { openLedger, refusal, type Ledger } from "../../../support/ledger.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const tester = { actor: systemActor("tests"), requestId: null, ip: null };
const holding = () => Promise.resolve();

// Background workers are off, so that the test starts each scan.
eachStore("The claim examiner", (store) => {
  let app: TestApp;
  let invoiceId: Id<"invoice">;
  let hash: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    await openSandbox(app.app, tester, 0);
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
    hash = (await payOnSandbox(app.app, tester, invoiceId, 24_000_000n)).transactionHash;
    const path = `/v1/checkout/${String(made.body["checkoutId"])}/transactions`;
    await expectStatus(app.request("POST", path, { body: { transactionHash: hash } }), 202);
  });
  after(() => app.stop());

  function sandbox() {
    const sandbox = sandboxOf(app.app);
    if (sandbox === null) throw new Error("the sandbox is off");
    return sandbox;
  }

  async function look(): Promise<void> {
    for (const { watcher } of networkReadersOf(app.app).values()) {
      while (await watcher.scan(holding));
    }
  }

  async function examine(guard: () => Promise<void> = holding): Promise<void> {
    app.clock.advance(minute);
    for (const reader of networkReadersOf(app.app).values()) {
      await reader.claims.examine(guard);
      await examineRefunds(app.app, reader, guard);
    }
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
    await mineBlocks(app.app, tester, 1);
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
    await mineBlocks(app.app, tester, 50);
    await look();
    const [payment] = await opened();
    if (payment === undefined) throw new Error("there is no payment");
    const { organizationId, id } = payment;
    // The operator's list goes on with the payment, as the payer's page does.
    const listed = async () => {
      const { data } = await listClaims(app.app, organizationId, { state: "review" });
      return data.map(presentClaim).map(({ state, result }) => [state, result]);
    };
    expect(await listed()).to.deep.equal([["review", "in_review"]]);
    const accepted = await acceptPayment(app.app, tester, organizationId, id);
    expect(accepted.payment.status).to.equal("confirming");
    expect(await listed()).to.deep.equal([["review", "counted"]]);
    await look();
    expect((await opened()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
  });
});

eachStore("The submission of a transaction", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open(), "ethereum", "bsc");
    for (const network of ["ethereum", "bsc"]) {
      await shop.scan(network);
      await shop.addWallet(network, { address: `0x${"5".repeat(40)}` });
    }
  });

  /** Submits a hash for an invoice, while the payer has chosen a network. Returns the workers that were woken. */
  async function submit(
    { id, organizationId }: InvoiceView,
    transactionHash: string,
    network = "ethereum",
  ): Promise<readonly string[]> {
    await shop.db.write(testContext, (tx) =>
      submitClaim(tx, shop.app, { id, organizationId, network }, transactionHash),
    );
    return shop.wokenWorkers.splice(0).map((worker) => worker.replace("watch ", ""));
  }

  const claimsOf = ({ id }: InvoiceView) =>
    shop.db.find(paymentClaims, "WHERE invoice_id = $1 ORDER BY id", [id]);
  const claimOf = async (invoice: InvoiceView) => (await claimsOf(invoice))[0];

  /** Sets what the examiner stores of an invoice's claims. */
  const set = ({ id }: InvoiceView, changes: Partial<ClaimRow>) =>
    shop.db.write(testContext, (tx) =>
      tx.update(paymentClaims, changes, "WHERE invoice_id = $1", [id]),
    );

  /** Returns the hashes in the audit entries of an invoice's submissions. */
  async function audited({ id }: InvoiceView) {
    const rows = await shop.db.find(
      auditLogs,
      "WHERE action = 'invoice.transaction_submitted' AND target_id = $1 ORDER BY id",
      [id],
    );
    return rows.map(({ changes }) => changes["transactionHash"]);
  }

  const hash = (digit: number) => String(digit).repeat(64);

  it("stores a claim that is due at once, also as the fifth open one, and wakes its network's worker", async () => {
    const invoice = await shop.create();
    const at = shop.now();
    const due = { state: "waiting", reason: null, attempts: 0, nextAt: at, createdAt: at } as const;
    for (const digit of [1, 2, 3, 4, 5]) {
      expect(await submit(invoice, hash(digit))).to.deep.equal(["ethereum"]);
      expect((await claimsOf(invoice)).at(-1)).to.include({
        ...due,
        transactionHash: hash(digit),
        network: "ethereum",
      });
    }
    expect(await audited(invoice)).to.deep.equal([1, 2, 3, 4, 5].map(hash));
  });

  it("changes nothing about a claim that waits on the same network, or was decided", async () => {
    for (const [changes, network] of [
      [{}, "ethereum"],
      [{ state: "credited", closedAt: 1 }, "bsc"],
      [{ state: "review", closedAt: 1 }, "ethereum"],
    ] as const) {
      const invoice = await shop.create();
      await submit(invoice, hash(1));
      await set(invoice, { attempts: 3, ...changes });
      const before = await claimOf(invoice);
      shop.advance(1_000);
      expect(await submit(invoice, hash(1), network)).to.deep.equal([]);
      expect(await claimOf(invoice)).to.deep.equal(before);
      expect(await audited(invoice)).to.have.length(1);
    }
  });

  it("moves a claim that waits on another network, where the search begins at once", async () => {
    const invoice = await shop.create();
    for (const digit of [1, 2, 3, 4, 5]) await submit(invoice, hash(digit));
    await set(invoice, { reason: "unknown", attempts: 3 });
    const before = await claimsOf(invoice);
    shop.advance(1_000);
    expect(await submit(invoice, hash(1), "bsc")).to.deep.equal(["bsc"]);
    const at = shop.now();
    const fresh = { network: "bsc", reason: null, attempts: 0, nextAt: at, createdAt: at };
    const [first, ...others] = before;
    expect(await claimsOf(invoice)).to.deep.equal([{ ...first, ...fresh }, ...others]);
    expect(await audited(invoice)).to.have.length(5);
  });

  it("opens a refused claim again, on the network that the payer has chosen since", async () => {
    const invoice = await shop.create();
    await submit(invoice, hash(1));
    const first = await claimOf(invoice);
    await set(invoice, { state: "refused", reason: "unknown", attempts: 9, closedAt: shop.now() });
    shop.advance(1_000);
    expect(await submit(invoice, hash(1), "bsc")).to.deep.equal(["bsc"]);
    const at = shop.now();
    expect(await claimsOf(invoice)).to.deep.equal([
      { ...first, network: "bsc", nextAt: at, createdAt: at },
    ]);
    expect(await audited(invoice)).to.deep.equal([hash(1), hash(1)]);
  });

  it("takes the place of the oldest unknown one if five are open, and is refused without such a one", async () => {
    const invoice = await shop.create();
    for (const digit of [1, 2, 3, 4, 5]) {
      await submit(invoice, hash(digit));
      shop.advance(1);
    }
    const before = await claimsOf(invoice);
    expect((await refusal(submit(invoice, hash(6)))).code).to.equal("too_many_claims");
    expect(await claimsOf(invoice)).to.deep.equal(before);
    expect(await audited(invoice)).to.have.length(5);
    expect(shop.wokenWorkers.splice(0)).to.deep.equal([]);
    // The second one is the oldest of those that no provider knows.
    for (const row of before.slice(1, 3)) {
      await shop.db.write(testContext, (tx) =>
        tx.update(paymentClaims, { reason: "unknown" }, "WHERE id = $1", [row.id]),
      );
    }
    expect(await submit(invoice, hash(6))).to.deep.equal(["ethereum"]);
    const after = await claimsOf(invoice);
    expect(after.map(({ state, reason }) => `${state} ${String(reason)}`)).to.deep.equal([
      "waiting null",
      "refused displaced",
      "waiting unknown",
      ...["waiting null", "waiting null", "waiting null"],
    ]);
    expect(after[1]).to.include({ network: "ethereum", closedAt: shop.now() });
  });
});
