import { expect } from "chai";
import { mineBlocks, reorganizeSandbox } from "../../../src/features/payments/sandbox/sandbox.ts";
import { claimableTerms } from "../../../src/features/invoices/holds/claimable.ts";
import { watchWorkerName } from "../../../src/features/payments/wake.ts";
import { paymentClaims } from "../../../src/features/payments/table.ts";
import { day, minute, second } from "../../../src/kernel/clock.ts";
import type { SandboxPayment } from "../../../src/platform/chain/sandbox/chain.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import {
  approvedMerchant,
  makeDefault,
  expectStatus,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { makeFakeChain } from "../../support/chain/fake-chain.ts";
import { startFakeNode } from "../../support/chain/fake-node.ts";
import { testNetworks } from "../../support/merchants.ts";
import { sendTokens } from "../../support/sandbox.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

interface Issued {
  readonly id: string;
  readonly checkoutId: string;
}
type Json = Readonly<Record<string, unknown>>;

const unknownHash = (digit: string): string => digit.repeat(64);

eachStore("A submitted transaction", (store) => {
  const it = takeTurns(store);
  let app: TestApp;
  let merchant: Merchant;
  let other: Merchant;
  let shops = 0;
  /** Canonical; each test has a wallet of its own. */
  let address = "";

  before(async () => {
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_SANDBOX_BLOCK_MS: "0" },
    });
    merchant = await approvedMerchant(app);
    other = await approvedMerchant(app);
  });
  after(() => app.stop());
  beforeEach(async () => {
    address = await addWallet(merchant);
  });

  async function addWallet(owner: Merchant): Promise<string> {
    shops += 1;
    const wallet = (0xabcdef0000 + shops).toString(16).padStart(40, "7");
    const { id } = await owner.addWallet({ address: `0x${wallet}` });
    await makeDefault(app, owner, "sandbox", id);
    return wallet;
  }

  const post = (path: string, body?: unknown, owner = merchant) => owner.post(path, body);

  /** Issues an invoice on the newest wallet. */
  async function issue(amount = "25.00", owner = merchant): Promise<Issued> {
    const { id, checkoutId } = await owner.issue({ amount });
    return { id: String(id), checkoutId: String(checkoutId) };
  }

  const submit = (
    { checkoutId }: Pick<Issued, "checkoutId">,
    transactionHash: string,
    headers: Record<string, string> = {},
  ) =>
    app.request("POST", `/v1/checkout/${checkoutId}/transactions`, {
      body: { transactionHash },
      headers,
    });

  const pay = (units: bigint, how: Partial<SandboxPayment> = {}) =>
    sendTokens(app, address, units, how);

  /** Wakes the watcher, which otherwise polls once per second. */
  const lookNow = () => {
    app.app.background.wake(watchWorkerName("sandbox"));
  };

  const mine = (blocks = 1) => mineBlocks(app.app, testContext, blocks);

  /** Mines, and waits until the watcher has read it. */
  async function mineAndRead(blocks = 1): Promise<void> {
    const { height } = await mine(blocks);
    lookNow();
    await until(
      "a look at the chain",
      () => networkState(app.app.db, "sandbox"),
      (state) => state?.tipHeight === height,
    );
  }

  async function claimOf(invoice: Issued, hash: string) {
    const row = await app.app.db.findOne(
      paymentClaims,
      "WHERE invoice_id = $1 AND transaction_hash = $2",
      [invoice.id, hash],
    );
    if (row === null) return null;
    const { state, reason, attempts } = row;
    return { state, reason, attempts };
  }

  const comesTo = (invoice: Issued, hash: string, state: string) =>
    until(
      `${state} of a claim`,
      () => {
        lookNow();
        return claimOf(invoice, hash);
      },
      (claim) => claim?.state === state,
    );

  async function refusedFor(invoice: Issued, hash: string): Promise<string | null> {
    return (await comesTo(invoice, hash, "refused"))?.reason ?? null;
  }

  /** Returns the results that the payer sees, newest first. */
  async function resultFor({ checkoutId }: Issued): Promise<string[]> {
    // A session may be a second old.
    app.clock.advance(1_000);
    const read = await expectStatus(app.request("GET", `/v1/checkout/${checkoutId}`), 200);
    const submitted = read.body["submittedTransactions"] as { readonly result: string }[];
    return submitted.map(({ result }) => result);
  }

  async function paymentsOf(invoice: Issued, owner = merchant): Promise<Json[]> {
    return owner.list(`/payments?invoiceId=${invoice.id}`);
  }

  async function onlyPaymentOf(invoice: Issued): Promise<Json> {
    const payments = await paymentsOf(invoice);
    expect(payments).to.have.length(1);
    return payments[0] ?? {};
  }

  const invoiceIs = (invoice: Issued, status: string): Promise<Json> =>
    until(
      `${status} of the invoice`,
      () => merchant.get(`/invoices/${invoice.id}`),
      (read) => read["status"] === status,
    );

  /** A transfer of another amount than asked, submitted and in review. */
  async function inReview(invoice: Issued, units = 24_000_000n): Promise<string> {
    const hash = await pay(units);
    await mineAndRead();
    await expectStatus(submit(invoice, hash), 202);
    await comesTo(invoice, hash, "review");
    return hash;
  }

  async function eventsOf(objectId: unknown): Promise<string[]> {
    const rows = await app.app.db.all<{ type: string }>(
      "SELECT type FROM events WHERE object_id = $1 ORDER BY id",
      [objectId as string],
    );
    return rows.map(({ type }) => type);
  }

  it("of another amount awaits the merchant, counts when accepted, and is confirmed", async () => {
    const invoice = await issue();
    const hash = await inReview(invoice, 26_000_000n);
    const payment = await onlyPaymentOf(invoice);
    expect(payment).to.include({
      status: "review",
      source: "submitted",
      transactionHash: `0x${hash}`,
      amount: "26.00",
    });
    expect(await merchant.get(`/invoices/${invoice.id}`)).to.include({
      status: "open",
      exception: "none",
      paidAmount: "0.00",
    });
    const page = await (await fetch(`${app.url}/pay/${invoice.checkoutId}`)).text();
    expect(page).to.contain('data-state="in_review"');

    const accepted = await expectStatus(post(`/payments/${String(payment["id"])}/accept`), 200);
    expect(accepted.body).to.include({ id: payment["id"], status: "confirming" });
    await invoiceIs(invoice, "confirming");
    await mineAndRead(3);
    expect(await invoiceIs(invoice, "paid")).to.include({ exception: "overpaid" });
    expect(await onlyPaymentOf(invoice)).to.include({ status: "confirmed", source: "submitted" });
    expect(await eventsOf(payment["id"])).to.deep.equal([
      "payment.needs_review",
      "payment.accepted",
      "payment.confirmed",
    ]);
    const again = await post(`/payments/${String(payment["id"])}/accept`);
    expect([again.status, again.body["code"]]).to.deep.equal([409, "payment_not_in_review"]);
  });

  it("shows its payer the merchant's decision", async () => {
    const pageOf = async ({ checkoutId }: Issued) => {
      // A page may be a second old.
      app.clock.advance(minute);
      return (await fetch(`${app.url}/pay/${checkoutId}`)).text();
    };
    for (const [decision, words] of [
      ["accept", "Found. It counts toward this payment."],
      ["reject", "This transaction is not a payment for this invoice."],
    ] as const) {
      const invoice = await issue();
      await inReview(invoice);
      expect(await pageOf(invoice)).to.match(
        /Found\. .* will decide whether it is for this payment\./,
      );
      const payment = await onlyPaymentOf(invoice);
      await expectStatus(post(`/payments/${String(payment["id"])}/${decision}`), 200);
      expect(await pageOf(invoice))
        .to.contain(words)
        .and.not.contain("will accept your payment");
    }
  });

  it("that the usual rules match is left to them", async () => {
    const invoice = await issue();
    const hash = await pay(25_000_000n);
    await expectStatus(submit(invoice, `https://explorer.example/tx/0x${hash.toUpperCase()}`), 202);
    await mineAndRead();
    app.clock.advance(minute);
    await comesTo(invoice, hash, "credited");
    expect(await onlyPaymentOf(invoice)).to.include({ status: "confirming", source: "detected" });
  });

  it("is looked up until it is on the chain", async () => {
    const invoice = await issue();
    const hash = await pay(20_000_000n);
    await expectStatus(submit(invoice, hash), 202);
    await until(
      "an unsuccessful lookup",
      () => claimOf(invoice, hash),
      (claim) => (claim?.attempts ?? 0) > 0,
    );
    expect(await claimOf(invoice, hash)).to.include({ state: "waiting" });
    await mineAndRead();
    app.clock.advance(minute);
    await comesTo(invoice, hash, "review");
  });

  it("of another chain, even as an explorer's link, is looked up without effect", async () => {
    const invoice = await issue();
    const elsewhere = unknownHash("c");
    for (const text of [`https://tronscan.org/#/transaction/${elsewhere}`, `0x${elsewhere}`]) {
      await expectStatus(submit(invoice, text), 202);
    }
    await until(
      "a look at the hash",
      () => claimOf(invoice, elsewhere),
      (claim) => (claim?.attempts ?? 0) > 0,
    );
    expect(await claimOf(invoice, elsewhere)).to.include({ state: "waiting", reason: "unknown" });
    expect(await paymentsOf(invoice)).to.deep.equal([]);
    await invoiceIs(invoice, "open");
  });

  it("is given up when the hold has ended", async () => {
    const invoice = await issue();
    app.clock.advance(9 * day);
    await mineAndRead(40);
    // A hold ends by the time of a final block that has had all of its readings, which come some time after the block. No
    // blocks follow meanwhile: newer ones would be read first, again and again on a slow machine.
    await until(
      "the end of the hold",
      () => {
        app.clock.advance(10 * minute);
        lookNow();
        return claimableTerms(app.app.db, invoice.id as `inv_${string}`, "sandbox");
      },
      (terms) => terms === null,
    );
    await invoiceIs(invoice, "expired");
    await expectStatus(submit(invoice, unknownHash("1")), 202);
    expect(await refusedFor(invoice, unknownHash("1"))).to.equal("hold_ended");
    expect(await paymentsOf(invoice)).to.deep.equal([]);
  });

  it("that no provider knows is given up after an hour, and looked up again if submitted again", async () => {
    const invoice = await issue();
    const hash = await pay(24_000_000n);
    await expectStatus(submit(invoice, hash), 202);
    app.clock.advance(61 * minute);
    expect(await refusedFor(invoice, hash)).to.equal("unknown");
    await mineAndRead();
    await expectStatus(submit(invoice, hash), 202);
    await comesTo(invoice, hash, "review");
  });

  const worthless: readonly [string, bigint, Partial<SandboxPayment>, string, string][] = [
    ["failed", 24_000_000n, { failed: true }, "failed_transaction", "failed"],
    ["moved a fake token", 25_000_000n, { fakeToken: true }, "other_token", "other_token"],
    ["moved another token", 24_000_000n, { token: "USDC" }, "other_token", "other_token"],
    [
      "paid another address",
      24_000_000n,
      { to: "12".repeat(20) },
      "other_address",
      "other_address",
    ],
    ["moved nothing", 0n, {}, "other_address", "other_address"],
    ["moved dust", 1n, {}, "dust", "too_small"],
  ];
  for (const [what, units, how, reason, result] of worthless) {
    it(`that ${what} credits nothing, and its payer learns why`, async () => {
      const invoice = await issue();
      const hash = await pay(units, how);
      await mineAndRead();
      await expectStatus(submit(invoice, hash), 202);
      expect(await refusedFor(invoice, hash)).to.equal(reason);
      expect(await paymentsOf(invoice)).to.deep.equal([]);
      expect(await resultFor(invoice)).to.deep.equal([result]);
    });
  }

  it("from before the invoice credits nothing", async () => {
    const earlier = await issue("10.00");
    const hash = await pay(24_000_000n);
    await mineAndRead();
    app.clock.advance(2 * minute);
    const invoice = await issue();
    await expectStatus(submit(invoice, hash), 202);
    expect(await refusedFor(invoice, hash)).to.equal("before_invoice");
    expect(await paymentsOf(earlier)).to.deep.equal([]);
  });

  it("that pays another invoice, or has exactly another's amount, stays with that one", async () => {
    const theirs = await issue("30.00");
    const invoice = await issue();
    const hash = await pay(30_000_000n);
    await mineAndRead();
    const answer = await expectStatus(submit(invoice, hash), 202);
    expect(await refusedFor(invoice, hash)).to.equal("taken");
    expect(await resultFor(invoice), "reveals no other invoice").to.deep.equal(["not_for_this"]);
    expect(answer.text).not.to.contain("30.00").and.not.to.contain(theirs.id);
    expect(await paymentsOf(invoice)).to.deep.equal([]);
    expect(await onlyPaymentOf(theirs)).to.include({ status: "confirming" });
    // Nobody's when it came: an invoice of just that amount that is issued afterwards does not take it.
    const loose = await pay(31_000_000n);
    await mineAndRead();
    await issue("31.00");
    await expectStatus(submit(invoice, loose), 202);
    await comesTo(invoice, loose, "review");
  });

  it("in a block that the watcher had passed came before the invoice, though less than a minute", async () => {
    address = "5e".repeat(20);
    // Mined blocks are spread over the time since the last one.
    await mineAndRead();
    const exact = await pay(25_000_000n);
    const odd = await pay(24_000_000n);
    await mineAndRead(40);
    const { id } = await merchant.addWallet({ label: "Late", address: `0x${address}` });
    await makeDefault(app, merchant, "sandbox", id);
    const invoice = await issue();
    for (const hash of [odd, exact]) {
      await expectStatus(submit(invoice, hash), 202);
      expect(await refusedFor(invoice, hash)).to.equal("before_invoice");
    }
    expect(await paymentsOf(invoice)).to.deep.equal([]);
  });

  it.onBoth("claimed for two invoices goes only to the one that accepts it", async () => {
    const [one, two] = [await issue("40.00"), await issue("41.00")];
    const third = await issue("42.00");
    const hash = await pay(39_000_000n);
    await mineAndRead();
    const answers = await Promise.all([submit(one, hash), submit(two, hash)]);
    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202]);
    for (const invoice of [one, two]) await comesTo(invoice, hash, "review");
    const [first, second] = [await onlyPaymentOf(one), await onlyPaymentOf(two)];
    const decisions = await Promise.all(
      [first, second, first, second].map(({ id }) => post(`/payments/${String(id)}/accept`)),
    );
    expect(decisions.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
    const statuses = [await onlyPaymentOf(one), await onlyPaymentOf(two)].map(
      ({ status }) => status,
    );
    expect(statuses).to.have.members(["confirming", "rejected"]);
    await expectStatus(submit(third, hash), 202);
    expect(await refusedFor(third, hash)).to.equal("taken");
  });

  it("that was rejected does not count, and cannot be submitted again for that invoice", async () => {
    const [invoice, another] = [await issue("50.00"), await issue("51.00")];
    const hash = await inReview(invoice, 49_000_000n);
    const payment = await onlyPaymentOf(invoice);
    const path = `/payments/${String(payment["id"])}`;
    expect((await expectStatus(post(`${path}/reject`), 200)).body).to.include({
      status: "rejected",
    });
    expect((await post(`${path}/accept`)).body["code"]).to.equal("payment_not_in_review");
    expect(await eventsOf(payment["id"])).to.deep.equal([
      "payment.needs_review",
      "payment.rejected",
    ]);
    await app.app.db.write(testContext, (tx) =>
      tx.update(paymentClaims, { state: "refused" }, "WHERE invoice_id = $1", [invoice.id]),
    );
    await expectStatus(submit(invoice, hash), 202);
    expect(await refusedFor(invoice, hash)).to.equal("rejected");
    await expectStatus(submit(another, hash), 202);
    await comesTo(another, hash, "review");
  });

  it("for a canceled invoice leaves it canceled until it is accepted", async () => {
    const invoice = await issue("60.00");
    await expectStatus(post(`/invoices/${invoice.id}/cancel`), 200);
    await inReview(invoice, 61_000_000n);
    expect(await merchant.get(`/invoices/${invoice.id}`)).to.include({ status: "canceled" });
    const { id } = await onlyPaymentOf(invoice);
    await expectStatus(post(`/payments/${String(id)}/accept`), 200);
    await mineAndRead(3);
    expect(await invoiceIs(invoice, "paid")).to.include({ exception: "late" });
  });

  it("that a reorganization drops is no longer claimed, and is again when it returns", async () => {
    const invoice = await issue("70.00");
    await inReview(invoice, 69_000_000n);
    const { id } = await onlyPaymentOf(invoice);
    await reorganizeSandbox(app.app, testContext, 1, { drop: false });
    await until(
      "the payment to leave the chain",
      () => onlyPaymentOf(invoice),
      ({ status }) => status === "reverted",
    );
    expect((await post(`/payments/${String(id)}/accept`)).status).to.equal(409);
    await mineAndRead();
    expect(await onlyPaymentOf(invoice)).to.include({ id, status: "review" });
    expect(await merchant.get(`/invoices/${invoice.id}`)).to.include({
      status: "open",
      exception: "none",
    });
  });

  it("replaces the oldest unknown one if five are open", async () => {
    const invoice = await issue("80.00");
    const hashes = ["1", "2", "3", "4", "5"].map(unknownHash);
    for (const hash of hashes) {
      await expectStatus(submit(invoice, hash), 202);
      app.clock.advance(1);
    }
    for (const hash of hashes) {
      await until(
        "an unsuccessful lookup",
        () => claimOf(invoice, hash),
        (claim) => claim?.reason === "unknown",
      );
      // The same one twice is one.
      await expectStatus(submit(invoice, hash), 202);
    }
    const real = await pay(79_000_000n);
    await mineAndRead();
    await expectStatus(submit(invoice, real), 202);
    expect(await refusedFor(invoice, unknownHash("1"))).to.equal("displaced");
    for (const hash of hashes.slice(1)) {
      expect(await claimOf(invoice, hash)).to.include({ state: "waiting" });
    }
    await comesTo(invoice, real, "review");
    const page = await until(
      "the page to tell",
      async () => (await fetch(`${app.url}/pay/${invoice.checkoutId}`)).text(),
      (text) => text.includes("will decide whether it is for this payment"),
    );
    expect(page).to.contain(`0x${real}`);
    expect(page).to.contain("stopped looking to make room for a newer one");
    expect(page).to.contain("The network doesn&#39;t know this transaction yet");
  });

  it("that waits for the merchant is shown to its payer before newer ones that were refused", async () => {
    const invoice = await issue("52.00");
    await inReview(invoice, 51_000_000n);
    const [claim] = await app.app.db.find(paymentClaims, "WHERE invoice_id = $1", [invoice.id]);
    if (claim === undefined) throw new Error("nothing was submitted");
    const { ids } = app.app;
    const refused = Array.from({ length: 12 }, (_, place) => ({
      ...claim,
      id: ids.next("claim", app.clock.now()),
      transactionHash: place.toString(16).repeat(64),
      state: "refused" as const,
      reason: "unknown" as const,
      createdAt: claim.createdAt + 1_000 + place,
    }));
    await app.app.db.write(testContext, (tx) => tx.insertMany(paymentClaims, refused));
    await until(
      "the page to list all",
      () => resultFor(invoice),
      (results) => results.length === 10,
    );
    const open = (await resultFor(invoice)).filter((result) => result === "in_review");
    expect(open).to.have.length(1);
    expect((await resultFor(invoice))[0]).to.equal("in_review");
    // Once it is decided about, the newest come first again.
    const payment = await onlyPaymentOf(invoice);
    await expectStatus(post(`/payments/${String(payment["id"])}/reject`), 200);
    await until(
      "the rejected one to make room",
      () => resultFor(invoice),
      (results) => results.every((result) => result === "given_up"),
    );
  });

  it("returns the session and stores the response for its key, per checkout", async () => {
    const [one, two] = [await issue("90.00"), await issue("91.00")];
    const key = { "Idempotency-Key": "once" };
    const first = await expectStatus(submit(one, unknownHash("a"), key), 202);
    const session = await expectStatus(app.request("GET", `/v1/checkout/${one.checkoutId}`), 200);
    expect(first.body).to.deep.equal(session.body);
    const again = await expectStatus(submit(one, unknownHash("a"), key), 202);
    expect(again.headers.get("Idempotent-Replayed")).to.equal("true");
    expect((await submit(one, unknownHash("b"), key)).status).to.equal(422);
    const elsewhere = await expectStatus(submit(two, unknownHash("a"), key), 202);
    expect(elsewhere.headers.get("Idempotent-Replayed")).to.equal(null);
    expect(elsewhere.body["id"]).to.equal(two.checkoutId);
  });

  it("is refused with its pointer if malformed, and for an unknown checkout", async () => {
    const invoice = await issue("95.00");
    for (const text of ["", "0x12", `${unknownHash("a")}0`, "g".repeat(64), "x".repeat(3_000)]) {
      const answer = await expectStatus(submit(invoice, text), 400);
      expect((answer.body["errors"] as Json[])[0]).to.include({ pointer: "/transactionHash" });
    }
    const unknown = { checkoutId: `chk_${"0".repeat(32)}` };
    expect((await submit(unknown, unknownHash("a"))).status).to.equal(404);
  });

  it("can be decided only by the merchant", async () => {
    const invoice = await issue("97.00");
    await inReview(invoice, 96_000_000n);
    const { id } = await onlyPaymentOf(invoice);
    for (const verb of ["accept", "reject"]) {
      const path = `/payments/${String(id)}/${verb}`;
      const foreign = await expectStatus(post(path, undefined, other), 404);
      const unknown = await expectStatus(
        post(`/payments/pay_${"0".repeat(26)}/${verb}`, undefined, other),
        404,
      );
      expect(foreign.body["detail"]).to.equal(unknown.body["detail"]);
    }
    expect(await paymentsOf(invoice, other)).to.deep.equal([]);
    expect(await onlyPaymentOf(invoice)).to.include({ status: "review" });
  });

  it("can be submitted with the page's form", async () => {
    const invoice = await issue("99.00");
    const hash = await pay(98_000_000n);
    await mineAndRead();
    const sent = await fetch(`${app.url}/pay/${invoice.checkoutId}/transactions`, {
      method: "POST",
      body: new URLSearchParams({ transactionHash: `0x${hash}` }),
    });
    expect(sent.status).to.equal(200);
    expect(await sent.text()).to.contain("ooking for your transaction");
    await comesTo(invoice, hash, "review");
    const page = await until(
      "the page to tell",
      async () => (await fetch(`${app.url}/pay/${invoice.checkoutId}`)).text(),
      (text) => text.includes('data-state="in_review"'),
    );
    expect(page).to.contain('data-state="in_review"');
    expect(page, "the payer sees his own money").to.contain("<dd><bdi>98.00 USDT</bdi></dd>");
  });
});

eachStore("A submitted transaction that the provider's logs left out", (store) => {
  it("is credited, or awaits the merchant, after the watcher has passed its block", async () => {
    const clock = movingClock();
    const contract = testNetworks("ethereum").get("ethereum")?.tokens[0]?.contract ?? "";
    const startAt = (Math.floor(clock.now() / second) - 200) * second;
    const chain = makeFakeChain({ chainId: 1, contract, startAt, blockMs: second, finalityLag: 3 });
    chain.mine([], 200);
    const node = await startFakeNode(chain);
    const app = await startApp({
      place: await store.place("migrated"),
      clock,
      settings: {
        TILL_NETWORKS: "ethereum",
        TILL_ETHEREUM_CONFIRMATIONS: "2",
        TILL_ETHEREUM_RPC_URLS: node.url,
      },
    });
    try {
      const merchant = await approvedMerchant(app);
      const { key, organizationId } = merchant;
      const ask = (method: string, path: string, body?: unknown) =>
        app.request(method, `/v1/organizations/${organizationId}${path}`, { key, body });
      const to = "5e".repeat(20);
      const wallet = await merchant.addWallet({ network: "ethereum", address: `0x${to}` });
      await makeDefault(app, merchant, "ethereum", wallet["id"]);
      const made = await merchant.issue({ network: "ethereum" });
      const { id, checkoutId } = made as { id: string; checkoutId: string };
      const [odd, exact] = ["ab".repeat(32), "cd".repeat(32)] as const;
      expect(made).to.include({ payableAmount: "25.00" });
      node.view.hidden = new Set([odd, exact]);
      // Blocks that came with times before the invoice would prove no order.
      clock.advance(minute);
      chain.mine([], Math.floor((clock.now() - chain.tip().time) / second) - 20);
      const paidAt = chain.height() + 1;
      const paid = [
        { to, amount: 24_000_000n, transactionHash: odd },
        { to, amount: 25_000_000n, transactionHash: exact },
      ];
      chain.mine(paid, 20);
      await until(
        "a cursor above their block",
        () => {
          app.app.background.wake(watchWorkerName("ethereum"));
          return networkState(app.app.db, "ethereum");
        },
        (state) => (state?.cursorHeight ?? 0) > paidAt,
      );
      const paymentsOf = async () =>
        (await expectStatus(ask("GET", `/payments?invoiceId=${id}`), 200)).body["data"] as Json[];
      expect(await paymentsOf()).to.deep.equal([]);
      for (const [hash, state] of [
        [odd, "review"],
        [exact, "credited"],
      ] as const) {
        const path = `/v1/checkout/${checkoutId}/transactions`;
        const given = { body: { transactionHash: hash } };
        await expectStatus(app.request("POST", path, given), 202);
        const claims = await until(
          `${state} of a claim`,
          () => app.app.db.find(paymentClaims, "WHERE transaction_hash = $1", [hash]),
          ([claim]) => claim !== undefined && claim.state !== "waiting",
        );
        expect(claims).to.have.length(1);
        expect(claims[0]).to.include({ state });
      }
      const isPaid = (invoice: Json) => invoice["status"] === "paid";
      await until(
        "a paid invoice",
        async () => (await expectStatus(ask("GET", `/invoices/${id}`), 200)).body,
        isPaid,
      );
      const payments = await paymentsOf();
      expect(
        payments.map(({ amount, status, source }) => ({ amount, status, source })),
      ).to.have.deep.members([
        { amount: "24.00", status: "review", source: "submitted" },
        { amount: "25.00", status: "confirmed", source: "detected" },
      ]);
    } finally {
      await app.stop();
      await node.stop();
    }
  });
});
