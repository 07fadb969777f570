import { expect } from "chai";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { TooManyClaims } from "../../../../src/features/payments/errors.ts";
import { makeHashClaims } from "../../../../src/features/payments/hash-claims/submit-claim.ts";
import { presentClaim } from "../../../../src/features/payments/inbox/present-transfer.ts";
import { paymentClaims, payments, type ClaimRow } from "../../../../src/features/payments/table.ts";
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

describe("The submission of a transaction", () => {
  const invoice = { id: "inv_1", organizationId: "org_1", network: "base" } as const;

  interface Stored {
    /** The claim of the same transaction. */
    readonly known?: Partial<ClaimRow> | null;
    /** The number of open claims of the invoice, and the oldest one whose transaction no provider knows. */
    readonly open?: number;
    readonly unknown?: Partial<ClaimRow> | null;
    readonly isClosed?: boolean;
  }

  /** Submits a transaction for an invoice on the network base. Returns what is done, in order. */
  async function submit({ known = null, open = 0, unknown = null, isClosed = false }: Stored) {
    const did: unknown[] = [];
    const tx = {
      findOne: (_table: unknown, sql: string) =>
        Promise.resolve(sql.includes("ORDER BY") ? unknown : known),
      all: () => Promise.resolve(Array.from({ length: open }, () => ({}))),
      update(_table: unknown, { state, network, reason }: Partial<ClaimRow>) {
        did.push(["update", state, network, reason]);
        return Promise.resolve(isClosed ? 0 : 1);
      },
      insert(_table: unknown, { state, network, transactionHash }: ClaimRow) {
        did.push(["insert", state, network, transactionHash]);
        return Promise.resolve();
      },
      afterCommit: (act: () => void) => {
        act();
      },
    };
    const claims = makeHashClaims({
      clock: { now: () => minute },
      ids: { next: () => "clm_1" },
      journal: {
        record: (_tx: unknown, _at: unknown, { action }: Readonly<Record<string, unknown>>) =>
          did.push(action),
      },
      invoices: { lockTerms: () => Promise.resolve(void did.push("lock")) },
      wake: (network: string) => did.push(`wake ${network}`),
    } as never);
    await claims.submit(tx as never, invoice, "aa").catch((error: unknown) => {
      expect(error).to.be.instanceOf(TooManyClaims);
      did.push("refused");
    });
    return did;
  }

  const submitted = ["invoice.transaction_submitted", "wake base"];
  const insert = ["insert", "waiting", "base", "aa"];

  it("locks the invoice, stores the claim and wakes the worker of its network", async () => {
    expect(await submit({})).to.deep.equal(["lock", insert, ...submitted]);
    expect(await submit({ open: 4 })).to.deep.equal(["lock", insert, ...submitted]);
  });

  it("changes nothing about a claim that waits on the same network, or was decided", async () => {
    for (const known of [
      { state: "waiting", network: "base" },
      { state: "credited", network: "tron" },
      { state: "review", network: "base" },
    ] as const) {
      expect(await submit({ known, open: 5 }), known.state).to.deep.equal(["lock"]);
    }
  });

  it("moves a claim that waits on another network, where the search begins at once", async () => {
    const known = { state: "waiting", network: "tron", reason: "unknown" } as const;
    expect(await submit({ known, open: 5 })).to.deep.equal([
      "lock",
      ["update", undefined, "base", null],
      "wake base",
    ]);
  });

  it("opens a refused claim again", async () => {
    const known = { state: "refused", network: "base", reason: "unknown" } as const;
    expect(await submit({ known })).to.deep.equal([
      "lock",
      ["update", "waiting", "base", null],
      ...submitted,
    ]);
  });

  it("takes the place of the oldest unknown one if five are open, and is refused without such a one", async () => {
    const unknown = { state: "waiting", network: "tron" } as const;
    const displaced = ["update", "refused", "tron", "displaced"];
    expect(await submit({ open: 5, unknown })).to.deep.equal([
      "lock",
      displaced,
      insert,
      ...submitted,
    ]);
    expect(await submit({ open: 5 })).to.deep.equal(["lock", "refused"]);
    // It was closed meanwhile.
    expect(await submit({ open: 5, unknown, isClosed: true })).to.deep.equal([
      "lock",
      displaced,
      "refused",
    ]);
  });
});
