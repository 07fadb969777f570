import { expect } from "chai";
import { searchAmount } from "../../../src/features/invoices/holds/amount-search.ts";
import { holdAmounts } from "../../../src/features/invoices/holds/holds.ts";
import { holds } from "../../../src/features/invoices/table.ts";
import type { RowOf, SqlValue } from "../../../src/platform/database/schema/table.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { peggedToken, stated, unmarked } from "../../support/amounts.ts";
import { openLedger } from "../../support/ledger.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("Taking a hold", (store) => {
  // SQLite takes the order of joins from the statement, and leaves an explained statement open.
  if (store.dialect === "sqlite") return;

  it("never reads every hold, even if the database has no statistics of the table", async () => {
    const db = await store.open();
    const shop = await openLedger(db, "tron");
    const { app } = shop;
    const { organizationId } = shop;
    const place = { organizationId, network: "tron", address: "1".repeat(40), token: "USDT" };
    const request = {
      invoiceId: shop.ids.next("invoice", shop.now()),
      search: searchAmount(place, 10n ** 8n, peggedToken(6), stated, systemRandom),
      leastOf: (amount: bigint) => amount,
      startsAt: shop.now(),
      endsAt: shop.now() + 1,
      mark: unmarked,
    };
    // As in a new store that got many invoices at once: PostgreSQL has no statistics yet.
    await db.write(testContext, (tx) => tx.run("TRUNCATE holds"));
    const others = Array.from({ length: 2_000 }, (_, index): RowOf<typeof holds> => ({
      id: shop.ids.next("hold", shop.now()),
      ...place,
      kind: "amount",
      enteredAtLink: null,
      needsDecision: false,
      releasedAt: null,
      recycledAt: null,
      recyclableKey: null,
      isNewAddress: false,
      ...unmarked,
      price: 0n,
      leastAmount: 0n,
      amount: BigInt(index),
      startsAt: 0,
      endsAt: 1,
      invoiceId: shop.ids.next("invoice", shop.now()),
    }));
    const plans = await db.write(testContext, async (tx) => {
      await tx.insertMany(holds, others);
      const asked: { sql: string; values: readonly SqlValue[] }[] = [];
      const listening: Tx = {
        ...tx,
        answers: (question, searches) => question.ask(listening, searches),
        all: <R>(sql: string, values: readonly SqlValue[] = []) => {
          asked.push({ sql, values });
          const found = {
            place: 0,
            near: null,
            taken: null,
            unpaid: 0,
            invoiceId: request.invoiceId,
          };
          return Promise.resolve([found] as R[]);
        },
      };
      await holdAmounts(listening, app, [request]);
      const told: string[] = [];
      for (const { sql, values } of asked) {
        told.push(JSON.stringify(await tx.all(`EXPLAIN ${sql}`, values)));
      }
      await tx.run("TRUNCATE holds");
      return told;
    });
    // Two statements: the search, and the hold itself.
    expect(plans).to.have.length(2);
    for (const plan of plans) expect(plan).to.include("SubPlan");
    for (const plan of plans) expect(plan).not.to.match(/Seq Scan on holds|Join|holds_ending/);
  });

  it("leaves an amount to another transaction that has taken it since the search", async () => {
    const db = await store.open();
    const shop = await openLedger(db, "tron");
    const { app } = shop;
    const { organizationId } = shop;
    const place = { organizationId, network: "tron", address: "1".repeat(40), token: "USDT" };
    const price = 10n ** 8n;
    const requestOf = (...candidates: readonly bigint[]) => ({
      invoiceId: shop.ids.next("invoice", shop.now()),
      search: {
        ...searchAmount(place, price, peggedToken(6), stated, systemRandom),
        candidates: { amounts: candidates, samples: [] },
      },
      leastOf: (amount: bigint) => amount,
      startsAt: shop.now(),
      endsAt: shop.now() + 1,
      mark: unmarked,
    });
    await db.write(testContext, async (tx) => {
      const taken = [price, price + 100n];
      expect(await holdAmounts(tx, app, [requestOf(price)])).to.deep.equal([price]);
      expect(await holdAmounts(tx, app, [requestOf(price + 100n)])).to.deep.equal([price + 100n]);
      // As a search that was answered before these were stored.
      const early: Tx = {
        ...tx,
        answers: <A>(_question: unknown, searches: readonly object[]) =>
          Promise.resolve(
            searches.map(() => ({ isNearHeld: false, taken: new Set(), unpaidOfLink: 0 }) as A),
          ),
      };
      const requests = taken.map((amount) => requestOf(amount));
      const held = await holdAmounts(early, app, requests);
      for (const amount of held) expect([...taken, null]).not.to.include(amount);
      const rows = await tx.find(holds, "ORDER BY id");
      const stored = rows.map(({ invoiceId, amount }) => [invoiceId, amount]);
      expect(stored.slice(2)).to.have.deep.members(
        requests.map(({ invoiceId }, index) => [invoiceId, held[index]]),
      );
      await tx.run("TRUNCATE holds");
    });
  });
});
