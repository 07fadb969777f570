// Made-up transactions: their lookups have a share of the provider's day, which organizations share.
import { expect } from "chai";
import {
  reserved,
  savedMax,
  strangersPercent,
} from "../../../../src/features/payments/hash-claims/strangers-share.ts";
import { pruneClaims } from "../../../../src/features/payments/hash-claims/store.ts";
import { paymentClaims, type ClaimRow } from "../../../../src/features/payments/table.ts";
import { day } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { expectStatus } from "../../../support/app.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openCounter, type Counter, type Json, type Merchant } from "../ledger/counter.ts";

const flood = 600;

eachStore("Made-up transactions of one shop", (store) => {
  let counter: Counter;
  let shopA: Merchant;
  let shopB: Merchant;
  let made = 0;
  before(async function () {
    this.timeout(120_000);
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

  it("are looked up for a tenth of the ordinary requests, and do not delay an honest one of another shop", async function () {
    this.timeout(60_000);
    const network = counter.app.app.sandbox?.network;
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
    const looks = 200;
    for (let look = 0; look < looks; look += 1) {
      counter.app.clock.advance(pollMs);
      await counter.examine();
    }
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
