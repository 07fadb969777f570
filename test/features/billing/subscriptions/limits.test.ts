// The gates on issuing hold under concurrent issues, and when they close while an invoice is being issued.
import { expect } from "chai";
import { createInvoiceBatch } from "../../../../src/features/invoices/batches/batch.ts";
import { createInvoice } from "../../../../src/features/invoices/issuing/create.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { subscriptions } from "../../../../src/features/billing/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { Problem } from "../../../../src/kernel/errors.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { expectStatus, type Answer, type Merchant } from "../../../support/app.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "../billing-fleet.ts";

const file = plansFile({
  closed: { price: "5.00", includedInvoices: 6 },
  open: { price: "5.00" },
});
const asked = {
  amount: "5",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
};

eachStore("the gates on issuing", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;
  let made = 0;

  before(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
    });
  });
  after(() => estate.stop());

  const patch = (path: string, body: object) =>
    estate.app.request("PATCH", `${shop.path}${path}`, { key: shop.key, body });

  async function begin(plan: string): Promise<void> {
    shop = await estate.merchant();
    made += 1;
    await shop.addWallet({ xpub: xpubOf(made) });
    await expectStatus(estate.select(shop, plan), 200);
  }
  const issue = () => shop.post("/invoices", asked);
  async function issued(): Promise<number> {
    const [row] = await estate.db.all<{ count: number }>(
      'SELECT COUNT(*) AS "count" FROM invoices WHERE organization_id = $1 AND issued_at IS NOT NULL',
      [shop.organizationId],
    );
    return row?.count ?? 0;
  }
  const codesOf = (answers: readonly Answer[]) =>
    answers.map(({ status, body }) => (status < 300 ? "issued" : body["code"])).sort();

  it.onBoth(
    "allow no more than the included invoices when drafts and new invoices are issued concurrently",
    async () => {
      await begin("closed");
      for (let count = 0; count < 4; count += 1) await expectStatus(issue(), 201);
      const drafts = await Promise.all(
        Array.from({ length: 6 }, () =>
          expectStatus(shop.post("/invoices", { ...asked, draft: true }), 201),
        ),
      );
      const answers = await Promise.all([
        ...Array.from({ length: 10 }, issue),
        ...drafts.map(({ body }) => patch(`/invoices/${String(body["id"])}`, { status: "open" })),
      ]);
      const refused = Array.from({ length: 14 }, () => "plan_limit_reached");
      expect(codesOf(answers)).to.deep.equal(["issued", "issued", ...refused]);
      expect(await issued()).to.equal(6);
    },
  );

  it.onBoth(
    "allow no more than the included invoices when the first ones of a period are issued concurrently",
    async () => {
      await begin("closed");
      const answers = await Promise.all(Array.from({ length: 64 }, issue));
      expect(codesOf(answers).filter((code) => code === "issued")).to.have.length(6);
      expect(await issued()).to.equal(6);
      for (const check of billingChecks) {
        expect(await check.run(estate.db), check.name).to.deep.equal([]);
      }
    },
  );

  it.onBoth(
    "allow concurrent batches as many invoices as the plan includes, drafts not counted",
    async () => {
      await begin("closed");
      await expectStatus(issue(), 201);
      const batches = await Promise.all(
        Array.from({ length: 3 }, (_, turn) => {
          const invoices = Array.from({ length: 4 }, (_each, place) => ({
            ...asked,
            externalId: `${String(turn)}-${String(place)}`,
            draft: place === 1,
          }));
          return expectStatus(shop.post("/invoices/batch", { invoices }), 200);
        }),
      );
      const results = batches.flatMap(
        ({ body }) =>
          body["results"] as { invoice: { status: string } | null; problem: { code: string } }[],
      );
      const found = results.map(({ invoice, problem }) => invoice?.status ?? problem.code).sort();
      const times = (count: number, code: string) => Array.from({ length: count }, () => code);
      expect(found).to.deep.equal([
        ...[...times(3, "draft"), ...times(5, "open"), ...times(4, "plan_limit_reached")],
      ]);
      expect(await issued()).to.equal(6);
      for (const check of billingChecks) {
        expect(await check.run(estate.db), check.name).to.deep.equal([]);
      }
    },
  );

  it("allow the included invoices again in the next period", async () => {
    await begin("closed");
    await Promise.all(Array.from({ length: 8 }, issue));
    const { openInvoice } = await estate.subscription(shop);
    await estate.pay(String(openInvoice?.id));
    await estate.live(31);
    const answers = await Promise.all(Array.from({ length: 8 }, issue));
    expect(codesOf(answers).filter((code) => code === "issued")).to.have.length(6);
    expect(await issued()).to.equal(12);
  });

  it.onBoth("include invoices that were issued before Till stored a count", async () => {
    await begin("closed");
    for (let count = 0; count < 5; count += 1) await expectStatus(issue(), 201);
    await estate.db.write(testContext, (tx) =>
      tx.update(subscriptions, { issuedFrom: null, issuedCount: 0 }, "WHERE organization_id = $1", [
        shop.organizationId,
      ]),
    );
    const answers = await Promise.all(Array.from({ length: 4 }, issue));
    expect(codesOf(answers).filter((code) => code === "issued")).to.have.length(1);
  });

  /** Issues an invoice whose transaction begins after `close` has committed, so that its earlier reads are stale. */
  async function issueAcross(
    close: (tx: Tx) => Promise<unknown>,
    issueOne: (organizationId: Id<"organization">) => Promise<unknown> = (organizationId) =>
      createInvoice(estate.app.app, testContext, organizationId, asked),
  ): Promise<string> {
    const { db } = estate;
    const write = db.write.bind(db);
    const writable = db as { write: typeof db.write };
    writable.write = async (context, fn) => {
      writable.write = write;
      await write(testContext, close);
      return write(context, fn);
    };
    try {
      await issueOne(shop.organizationId as Id<"organization">);
      return "issued";
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    } finally {
      writable.write = write;
    }
  }

  it.onBoth("do not count the invoices of a batch whose wallet was archived", async () => {
    await begin("closed");
    const setStatus = (status: string) => (tx: Tx) =>
      tx.run("UPDATE wallets SET status = $2 WHERE organization_id = $1", [
        shop.organizationId,
        status,
      ]);
    const items = Array.from({ length: 4 }, (_, place) => {
      const externalId = String(place);
      return { externalId, input: { ...asked, externalId } };
    });
    await issueAcross(setStatus("archived"), async (organizationId) => {
      const { results } = await createInvoiceBatch(
        estate.app.app,
        testContext,
        organizationId,
        items,
      );
      const codes = results.map((each) => (each.outcome === "refused" ? each.problem.code : ""));
      expect(codes).to.deep.equal(items.map(() => "no_default_wallet"));
    });
    await estate.db.write(testContext, setStatus("active"));
    const answers = await Promise.all(Array.from({ length: 8 }, issue));
    expect(codesOf(answers).filter((code) => code === "issued")).to.have.length(6);
  });

  it.onBoth(
    "give the place of a batch's invoice whose wallet was archived to a later one of the batch",
    async () => {
      await begin("closed");
      made += 1;
      const { id } = await shop.addWallet({ label: "Gone", xpub: xpubOf(made) });
      const walletId = String(id) as Id<"wallet">;
      const items = Array.from({ length: 9 }, (_, place) => {
        const externalId = String(place);
        return { externalId, input: { ...asked, externalId, ...(place < 2 && { walletId }) } };
      });
      const archive = (tx: Tx) =>
        tx.run("UPDATE wallets SET status = 'archived' WHERE id = $1", [walletId]);
      await issueAcross(archive, async (organizationId) => {
        const { results } = await createInvoiceBatch(
          estate.app.app,
          testContext,
          organizationId,
          items,
        );
        const codes = results.map((each) => (each.outcome === "refused" ? each.problem.code : ""));
        const issuedCodes = Array.from({ length: 6 }, () => "");
        expect(codes.slice(2)).to.deep.equal([...issuedCodes, "plan_limit_reached"]);
        expect(codes.slice(0, 2)).not.to.include("");
      });
      expect(await issued()).to.equal(6);
      expect(codesOf([await issue()])).to.deep.equal(["plan_limit_reached"]);
      for (const check of billingChecks) {
        expect(await check.run(estate.db), check.name).to.deep.equal([]);
      }
    },
  );

  // On SQLite, writes run one at a time.
  const onPostgres = store.dialect === "postgres" ? it.onBoth : null;
  onPostgres?.(
    "let a batch with refused invoices of a plan without a limit pass while another issue holds its plan",
    async () => {
      await begin("open");
      const { db } = estate;
      const write = db.write.bind(db);
      const writable = db as { write: typeof db.write };
      const items = ["a", "b"].map((externalId) => ({
        externalId,
        input: { ...asked, externalId },
      }));
      let lock: () => void = () => undefined;
      let release: () => void = () => undefined;
      const locked = new Promise<void>((resolve) => {
        lock = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const other = write(testContext, async (tx) => {
        await tx.lockShared("SELECT 1 AS found FROM subscriptions WHERE organization_id = $1", [
          shop.organizationId,
        ]);
        lock();
        await released;
      });
      await locked;
      writable.write = (context, fn) => {
        writable.write = write;
        return write(context, async (tx) => {
          await tx.run("SET LOCAL lock_timeout = '500ms'");
          await tx.run("UPDATE wallets SET status = 'archived' WHERE organization_id = $1", [
            shop.organizationId,
          ]);
          return fn(tx);
        });
      };
      try {
        const organizationId = shop.organizationId as Id<"organization">;
        const { results } = await createInvoiceBatch(
          estate.app.app,
          testContext,
          organizationId,
          items,
        );
        expect(results.map(({ outcome }) => outcome)).to.deep.equal(["refused", "refused"]);
      } finally {
        writable.write = write;
        release();
        await other;
      }
    },
  );

  /** Issues an invoice and runs `close` after the decision of its transaction and before its commit. */
  async function issueDuring(close: (tx: Tx) => Promise<unknown>): Promise<"waits" | "closes"> {
    const { db } = estate;
    const write = db.write.bind(db);
    const writable = db as { write: typeof db.write };
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    const closing = decided.then(() =>
      write(testContext, async (tx) => {
        await tx.run("SET LOCAL lock_timeout = '50ms'");
        await close(tx);
      }).then(
        () => "closes" as const,
        () => "waits" as const,
      ),
    );
    writable.write = (context, fn) => {
      writable.write = write;
      return write(context, async (tx) => {
        const made = await fn(tx);
        decide();
        await closing;
        return made;
      });
    };
    try {
      const organizationId = shop.organizationId as Id<"organization">;
      await createInvoice(estate.app.app, testContext, organizationId, asked);
      return await closing;
    } finally {
      writable.write = write;
    }
  }

  const closings: readonly [title: string, plan: string, code: string, sql: string][] = [
    [
      "the wallet was archived",
      "open",
      "no_default_wallet",
      "UPDATE wallets SET status = 'archived' WHERE organization_id = $1",
    ],
    [
      "the organization was suspended",
      "open",
      "organization_suspended",
      "UPDATE organizations SET status = 'suspended' WHERE id = $1",
    ],
    [
      "the subscription was suspended",
      "open",
      "subscription_suspended",
      "UPDATE subscriptions SET status = 'suspended', version = version + 1 WHERE organization_id = $1",
    ],
    [
      "the subscription with a limit was suspended",
      "closed",
      "subscription_suspended",
      "UPDATE subscriptions SET status = 'suspended', version = version + 1 WHERE organization_id = $1",
    ],
    [
      "the subscription ended",
      "open",
      "subscription_required",
      "UPDATE subscriptions SET status = 'canceled', version = version + 1 WHERE organization_id = $1",
    ],
    [
      "the organization lost its approval",
      "open",
      "organization_not_verified",
      "UPDATE organizations SET verification_status = 'unverified' WHERE id = $1",
    ],
  ];
  for (const [title, plan, code, sql] of closings) {
    it.onBoth(`refuse an invoice that was planned before ${title}`, async () => {
      await begin(plan);
      expect(await issueAcross((tx) => tx.run(sql, [shop.organizationId]))).to.equal(code);
      expect(await issued()).to.equal(0);
    });
    onPostgres?.(`stay open until the commit of an invoice, after which ${title}`, async () => {
      await begin(plan);
      expect(await issueDuring((tx) => tx.run(sql, [shop.organizationId]))).to.equal("waits");
      expect(await issued()).to.equal(1);
    });
  }
});
