// Made-up transactions: their lookups have a share of the provider's day, which organizations share.
import { expect } from "chai";
import { pruneClaims } from "../../../../src/features/payments/hash-claims/retention.ts";
import { sandboxOf } from "../../../../src/features/payments/sandbox/sandbox.ts";
import {
  makeStrangersShare,
  reserved,
  savedMax,
  strangersPercent,
} from "../../../../src/features/payments/hash-claims/examiner.ts";
import { dueUnknownClaims } from "../../../../src/features/payments/hash-claims/store.ts";
import { paymentClaims, type ClaimRow } from "../../../../src/features/payments/table.ts";
import { day, hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import type { Reader } from "../../../../src/platform/database/database.ts";
import type { SqlValue } from "../../../../src/platform/database/schema/table.ts";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

const flood = 600;

eachStore("Made-up transactions of one shop", (store) => {
  let counter: Counter;
  let shopA: Merchant;
  let shopB: Merchant;
  let made = 0;
  before(async () => {
    counter = await openCounter(store);
    [shopA, shopB] = [await counter.merchant(), await counter.merchant()];
    await counter.wallet(shopA);
  });
  after(() => counter.stop());

  /** Stores waiting claims of made-up hashes, five for an invoice, as 600 a minute leave them. */
  async function storeFlood(invoices: readonly Json[]): Promise<void> {
    const { ids, db } = counter.app.app;
    const at = counter.app.clock.now();
    const rows = Array.from({ length: flood }, (_, place): ClaimRow => {
      made += 1;
      return {
        id: ids.next("claim", at),
        organizationId: shopA.organizationId as Id<"organization">,
        invoiceId: invoices[place % invoices.length]?.["id"] as Id<"invoice">,
        network: "sandbox",
        transactionHash: String(made).padStart(64, "0"),
        state: "waiting",
        reason: null,
        attempts: 0,
        isKnown: false,
        nextAt: at,
        createdAt: at,
        closedAt: null,
      };
    });
    await db.write(testContext, (tx) => tx.insertMany(paymentClaims, rows));
  }
  const lookups = async ({ organizationId }: Merchant) => {
    const rows = await counter.app.app.db.find(paymentClaims, "WHERE organization_id = $1", [
      organizationId,
    ]);
    return rows.reduce((sum, { attempts }) => sum + attempts, 0);
  };

  it("are looked up for a tenth of the ordinary requests, and do not delay an honest one of another shop", async () => {
    const network = sandboxOf(counter.app.app)?.network;
    const pollMs = network?.pollMs ?? 0;
    await storeFlood([await counter.issue(shopA), await counter.issue(shopA)]);
    await counter.examine();
    expect(await lookups(shopA)).to.equal(savedMax - reserved);
    // Money that found no invoice, because the payer has changed the amount.
    const address = await counter.wallet(shopB);
    const invoice = await counter.issue(shopB);
    const hash = await counter.pay(address, 13_370_000n);
    await counter.mine();
    const path = `/v1/checkout/${String(invoice["checkoutId"])}/transactions`;
    const body = { transactionHash: hash };
    await expectStatus(counter.app.request("POST", path, { body }), 202);
    await storeFlood([await counter.issue(shopA)]);
    counter.app.clock.advance(pollMs);
    await counter.examine();
    counter.app.clock.advance(pollMs);
    await counter.examine();
    const [found] = await counter.app.app.db.find(paymentClaims, "WHERE organization_id = $1", [
      shopB.organizationId,
    ]);
    expect(found?.state).to.equal("review");
    const before = await lookups(shopA);
    const since = counter.app.clock.now();
    for (let look = 0; look < 200; look += 1) {
      counter.app.clock.advance(pollMs);
      await counter.examine();
    }
    // The time of the looks themselves passes too.
    const looks = (counter.app.clock.now() - since) / pollMs;
    const share = (looks * 2 * strangersPercent) / 100;
    expect((await lookups(shopA)) - before).to.be.within(share - 2, share + 2);
  });

  it("are refused after a day if unknown, or after three without a lookup, and forgotten a day later, while others wait on", async () => {
    const { db } = counter.app.app;
    const { clock } = counter.app;
    const prune = async () => {
      while (await pruneClaims(db, clock.now(), testContext));
    };
    const [kept] = await db.find(paymentClaims, "WHERE state = 'review'");
    clock.advance(day + 1);
    await prune();
    // Providers that failed for a day refuse no payer's transaction.
    const unread = await db.find(paymentClaims, "WHERE state = 'waiting' AND reason IS NULL");
    expect(unread.length).to.be.greaterThan(0);
    expect(
      await db.find(paymentClaims, "WHERE reason = 'unknown' AND state = 'waiting'"),
    ).to.deep.equal([]);
    clock.advance(2 * day);
    await prune();
    const waiting = await db.find(paymentClaims, "WHERE state = 'waiting'");
    expect(waiting).to.deep.equal([]);
    expect((await db.find(paymentClaims, "WHERE state = 'refused'")).length).to.be.at.least(
      unread.length,
    );
    clock.advance(day + 1);
    await prune();
    expect(await db.find(paymentClaims, "")).to.deep.equal([kept]);
  });
});

eachStore("The due claims of shops", (store) => {
  it("are found by index, however many claims of one shop wait", async () => {
    const db = await store.open();
    const at = Date.parse("2031-01-31T00:00:00Z");
    const shops = ["org_1", "org_2"] as Id<"organization">[];
    const rows = Array.from({ length: 20_000 }, (_, place): ClaimRow => {
      const invoice = Math.floor(place / 5);
      return {
        id: `clm_${String(place)}`,
        organizationId: shops[invoice % 10 === 0 ? 0 : 1] as Id<"organization">,
        invoiceId: `inv_${String(invoice)}`,
        network: "sandbox",
        transactionHash: String(place).padStart(64, "0"),
        state: "waiting",
        reason: null,
        attempts: place % 3,
        isKnown: false,
        nextAt: at + (place % 977),
        createdAt: at,
        closedAt: null,
      };
    });
    await db.write(testContext, (tx) => tx.insertMany(paymentClaims, rows));
    const asked: { readonly sql: string; readonly values: readonly SqlValue[] }[] = [];
    const noting: Reader = {
      ...db,
      all: (sql: string, values: readonly SqlValue[] = []) => {
        asked.push({ sql, values });
        return db.all(sql, values);
      },
    };
    // PostgreSQL's autovacuum counts the claims in a while.
    await db.write(testContext, (tx) => tx.run("ANALYZE payment_claims"));
    const due = await dueUnknownClaims(noting, "sandbox", shops, at + day, 100);
    expect(due).to.have.length(2 * 2 * 100);
    for (const shop of shops) {
      const own = due.filter(({ organizationId }) => organizationId === shop);
      expect(own.filter(({ attempts }) => attempts === 0)).to.have.length(100);
    }
    const explain = db.dialect === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
    for (const { sql, values } of asked) {
      const plan = JSON.stringify(await db.all(`${explain} ${sql}`, values));
      expect(plan).to.include("payment_claims_looked_up").and.to.include("payment_claims_unknown");
      expect(plan).not.to.match(/Seq Scan on payment_claims|SCAN (one|claim)/);
    }
  });
});

eachStore("Claims of one shop", (store) => {
  let counter: Counter;
  let shop: Merchant;
  let made = 0;
  before(async () => {
    counter = await openCounter(store);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    // Saves up all lookups, and lets a minute pass since those of others.
    counter.app.clock.advance(hour);
    const { db } = counter.app.app;
    await db.write(testContext, (tx) => tx.run("DELETE FROM payment_claims", []));
    shop = await counter.merchant();
    await counter.wallet(shop);
  });

  const invoicesOf = (count: number) =>
    Promise.all(Array.from({ length: count }, () => counter.issue(shop)));
  async function storeClaim(invoice: Json | undefined, attempts: number): Promise<Id<"claim">> {
    const { ids, db } = counter.app.app;
    const at = counter.app.clock.now();
    made += 1;
    const row: ClaimRow = {
      id: ids.next("claim", at),
      organizationId: shop.organizationId as Id<"organization">,
      invoiceId: invoice?.["id"] as Id<"invoice">,
      network: "sandbox",
      transactionHash: String(made).padStart(64, "0"),
      state: "waiting",
      reason: attempts === 0 ? null : "unknown",
      attempts,
      isKnown: false,
      nextAt: at,
      createdAt: at,
      closedAt: null,
    };
    await db.write(testContext, (tx) => tx.insert(paymentClaims, row));
    return row.id;
  }
  const find = (id: Id<"claim">) =>
    counter.app.app.db.findOne(paymentClaims, "WHERE id = $1", [id]);

  it("take turns, those looked up before and fresh ones, however many made-up hashes come at how many invoices", async () => {
    const pollMs = sandboxOf(counter.app.app)?.network.pollMs ?? 0;
    const invoices = await invoicesOf(52);
    const [own, ownFresh, ...strange] = invoices;
    const ahead = 3;
    let place = 0;
    const flood = async (count: number, attempts: number) => {
      for (let left = count; left > 0; left -= 1) {
        await storeClaim(strange[(place += 1) % strange.length], attempts);
      }
    };
    await flood(ahead, 0);
    await flood(ahead, 1);
    counter.app.clock.advance(1);
    const [looked, fresh] = [await storeClaim(own, 3), await storeClaim(ownFresh, 0)];
    counter.app.clock.advance(1);
    await flood(200, 0);
    // Every second turn is for claims that were looked up before, of which the older ones come again when they are due:
    // at most ten times until they are given up. None of those that came later comes before it.
    const lookupsOfOlder = 10;
    const lookups = 2 * (2 * ahead * lookupsOfOlder + 1);
    const looks = Math.ceil((lookups * 100) / (2 * strangersPercent));
    let since = 0;
    while (since < looks) {
      if ((await find(looked))?.attempts === 4 && (await find(fresh))?.attempts === 1) break;
      since += 1;
      await flood(2, 0);
      counter.app.clock.advance(pollMs);
      await counter.examine();
    }
    expect(await find(looked)).to.include({ attempts: 4 });
    expect(await find(fresh)).to.include({ attempts: 1 });
  });

  it("are looked up at one invoice once before the other invoices had a turn, whether looked up before or not", async () => {
    const [crowded, ...others] = await invoicesOf(10);
    const many = await Promise.all(
      [0, 0, 0, 1, 1, 1].map((attempts) => storeClaim(crowded, attempts)),
    );
    const single = await Promise.all(others.map((invoice) => storeClaim(invoice, 0)));
    const before = new Map(
      await Promise.all([...many, ...single].map(async (id) => [id, await find(id)] as const)),
    );
    await counter.examine();
    const isLookedUp = async (id: Id<"claim">) =>
      (await find(id))?.attempts !== before.get(id)?.attempts;
    const count = async (ids: readonly Id<"claim">[]) =>
      (await Promise.all(ids.map(isLookedUp))).filter(Boolean).length;
    expect(await count(single)).to.equal(others.length);
    expect(await count(many)).to.equal(1);
    // The lookups that other invoices leave are for it.
    const { db } = counter.app.app;
    await db.write(testContext, (tx) => tx.run("DELETE FROM payment_claims", []));
    counter.app.clock.advance(2 * minute);
    const alone = await Promise.all(
      [0, 0, 1, 1, 1].map((attempts) => storeClaim(crowded, attempts)),
    );
    await counter.examine();
    expect((await Promise.all(alone.map(find))).map((claim) => claim?.attempts)).to.deep.equal([
      1, 1, 2, 2, 2,
    ]);
  });
});

describe("The share of strangers' lookups", () => {
  const pollMs = 5 * second;
  let now = 0;
  let share = makeStrangersShare({ clock: { now: () => now }, network: { pollMs } });
  beforeEach(() => {
    now = Date.parse("2031-01-31T00:00:00Z");
    share = makeStrangersShare({ clock: { now: () => now }, network: { pollMs } });
  });

  const shopId = (place: number) => `org_${String(place)}` as const;
  const claimOf = (shop: number, invoice: number, attempts = 0) =>
    ({
      id: `clm_${String(shop)}_${String(invoice)}`,
      organizationId: shopId(shop),
      invoiceId: `inv_${String(shop)}_${String(invoice)}`,
      attempts,
    }) as ClaimRow;
  const shops = [1, 2, 3, 4, 5, 6, 7, 8];
  /** Looks at shops of which each has many claims, and returns how many lookups each one got. */
  const look = (looks: number) => {
    const counts = shops.map(() => 0);
    for (let left = looks; left > 0; left -= 1) {
      now += pollMs;
      if (share.left() === 0) continue;
      const first = share.inTurn(shops.map(shopId)).slice(0, 20);
      const claims = shops.flatMap((shop) =>
        first.includes(shopId(shop)) ? [1, 2, 3].map((place) => claimOf(shop, place)) : [],
      );
      for (const { organizationId } of share.take(claims, 20, () => 1)) {
        const place = shops.findIndex((shop) => shopId(shop) === organizationId);
        counts[place] = (counts[place] ?? 0) + 1;
      }
    }
    return counts;
  };

  it("is the same for organizations that wait for more than a minute between two lookups", () => {
    look(100);
    const counts = look(800);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    expect(Math.min(...counts)).to.be.at.least(19);
  });

  it("is the same for all organizations after the clock was set back", () => {
    look(100);
    now -= 30 * minute;
    const counts = look(800);
    expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    expect(Math.min(...counts)).to.be.at.least(19);
  });

  it("is saved for a claim that needs two lookups, although others of its organization need one", () => {
    const dear = claimOf(1, 1, 5);
    const cheap = [2, 3, 4, 5, 6, 7, 8, 9].map((place) => claimOf(1, place, 5));
    let taken = false;
    for (let left = 30; left > 0; left -= 1) {
      now += pollMs;
      // All that can be had was taken before.
      if (left === 30)
        share.take([...cheap, ...cheap.map((claim) => claimOf(2, 1, claim.attempts))], 20, () => 1);
      taken ||= share
        .take([dear, ...cheap], 20, (claim) => (claim === dear ? 2 : 1))
        .includes(dear);
    }
    expect(taken).to.equal(true);
  });

  it("alternates between claims that were looked up before and others, from one look to the next", () => {
    const claims = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((place) => [
      claimOf(1, place),
      claimOf(1, place + 10, 2),
    ]);
    share.take(claims, 20, () => 1);
    const kinds: boolean[] = [];
    for (let left = 40; left > 0; left -= 1) {
      now += pollMs;
      kinds.push(...share.take(claims, 20, () => 1).map(({ attempts }) => attempts === 0));
    }
    expect(kinds).to.have.length.at.least(7);
    expect(kinds.slice(1).every((kind, place) => kind !== kinds[place])).to.equal(true);
    // The lookups that one kind leaves are for the other.
    now += hour;
    expect(
      share.take(
        claims.filter(({ attempts }) => attempts > 0),
        20,
        () => 1,
      ),
    ).to.have.length(9);
  });
});
