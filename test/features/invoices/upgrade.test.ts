// The upgrade of a store of an earlier version, whose invoices wait for rests that nobody can send.
import { expect } from "chai";
import { addressOwnerships } from "../../../src/features/wallets/table.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { expectStatus, type Json } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { expectSound } from "../../support/store/expect-store-is-consistent.ts";
import { toVersion40 } from "../../support/store/earlier-schema.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { usdt } from "../../support/amounts.ts";
import { openDesk } from "../../support/counter.ts";

/** Takes the changes of the schema after version 36 back, with what they stored. */
const toVersion36 = [
  ...toVersion40,
  "DROP INDEX holds_entered",
  "DROP INDEX holds_bare",
  "ALTER TABLE holds DROP COLUMN needs_decision",
  "ALTER TABLE holds DROP COLUMN entered_at_link",
  "ALTER TABLE payments DROP COLUMN rounding_amount",
  "ALTER TABLE invoices DROP COLUMN dust_amount",
  "ALTER TABLE invoices DROP COLUMN entered_at_link",
  "ALTER TABLE transfers DROP COLUMN waiting_reason",
  "DROP INDEX wallets_position",
  "ALTER TABLE wallets DROP COLUMN position",
  "ALTER TABLE wallets DROP COLUMN version",
  "DELETE FROM schema_versions WHERE version > 36",
];
const stored = (amount: string) => usdt(amount).toString().padStart(78, "0");

eachStore("The upgrade of a store of schema 36", (store) => {
  const shop = openDesk(store);
  const { issue, read, post, pay, inboxed } = shop;
  const run = async (statements: readonly (readonly [string, ...string[]])[]) => {
    await shop.counter.app.app.db.write(testContext, async (tx) => {
      for (const [sql, ...values] of statements) await tx.run(sql, values);
    });
  };

  /** Issues an invoice as an earlier version did, without a dust. */
  async function issued(input: Json): Promise<Json> {
    const invoice = await issue(input);
    await run([["UPDATE invoices SET dust_amount = NULL WHERE id = $1", String(invoice["id"])]]);
    return invoice;
  }
  /** Lets an invoice ask for a rest that an earlier version asked for. */
  async function asks(invoice: Json, rest: string): Promise<void> {
    const { remainingAmount: remaining } = await read(invoice);
    const values = [String(invoice["id"]), stored(rest), stored(String(remaining))] as const;
    await run([
      ["UPDATE invoices SET remaining_amount = $2 WHERE id = $1", values[0], values[1]],
      [
        "UPDATE holds SET amount = $2, least_amount = $2, price = $2 WHERE invoice_id = $1 AND amount = $3",
        ...values,
      ],
    ]);
  }
  async function credit(invoice: Json, amount: string): Promise<void> {
    await pay(amount);
    const allocations = [{ invoiceId: invoice["id"], amount }];
    const id = String((await inboxed())?.["id"]);
    await expectStatus(post(`/transfers/${id}/allocate`, { allocations }), 200);
    await shop.counter.mine(3);
  }
  const payTo = async ({ walletAddress }: Json, amount: unknown) => {
    await shop.counter.pay(String(walletAddress).slice(2).toLowerCase(), usdt(amount));
    await shop.counter.mine(3);
  };

  it("keeps what payers were shown, asks for no rest below dust, and leaves the store consistent", async () => {
    const body = { label: "Own", network: "sandbox", xpub: xpubOf(8) };
    const { body: wallet } = await expectStatus(post("/wallets", body), 201);
    const own = { walletId: wallet["id"] };

    const open = await issued({ amount: "12.00" });
    const reviewed = await issued({ amount: "25.00" });
    const hash = await pay("24.995");
    await expectStatus(
      shop.counter.app.request(
        "POST",
        `/v1/checkout/${String(reviewed["checkoutId"])}/transactions`,
        {
          body: { transactionHash: `0x${hash}` },
        },
      ),
      202,
    );
    await shop.counter.examine();
    const alone = await issued({ ...own, amount: "30.00" });
    await payTo(alone, "29.999");
    await asks(alone, "0.001");
    const partly = await issued({ ...own, amount: "40.00" });
    await payTo(partly, "20.00");
    const shared: Json[] = [];
    for (const [amount, part, rest] of [
      ["50.00", "49.998", "0.002"],
      ["60.00", "59.997", "0.003"],
      ["0.80", "0.7919", "0.0081"],
    ] as const) {
      const invoice = await issued({ amount });
      await credit(invoice, part);
      await asks(invoice, rest);
      shared.push(invoice);
    }
    const all = [open, reviewed, alone, partly, ...shared];
    const before = await Promise.all(all.map(read));
    await run(toVersion36.map((sql) => [sql] as const));
    const { db } = shop.counter.app.app;
    const applied = await migrate(db, systemClock);
    expect(applied[0]?.version).to.equal(37);
    await expectSound(db);

    const after = await Promise.all(all.map(read));
    const raised = ["0.01", "0.0101", "0.0102", "0.0103"];
    for (const [place, record] of after.entries()) {
      const { remainingAmount, ...shown } = record;
      const { remainingAmount: former, ...same } = before[place] ?? {};
      expect(shown).to.deep.equal(same);
      expect(remainingAmount).to.equal(usdt(former) < usdt("0.01") ? raised.shift() : former);
    }
    expect(raised).to.deep.equal([]);

    // A recomputation agrees, and whatever is asked for is credited when it is sent.
    await payTo(alone, "0.01");
    for (const invoice of shared) await pay((await read(invoice))["remainingAmount"]);
    await payTo(partly, "20.007");
    const reviewedId = `invoiceId=${String(reviewed["id"])}`;
    const [payment] = await shop.counter.list(shop.merchant, `/payments?${reviewedId}`);
    expect(payment).to.include({
      status: "review",
      settlementAmount: "24.99",
      roundingAmount: "0.00",
    });
    await expectStatus(post(`/payments/${String(payment?.["id"])}/accept`, {}), 200);
    await shop.counter.mine(3);
    await pay(open["payableAmount"]);
    for (const invoice of all) {
      expect(await read(invoice)).to.include({ status: "paid", exception: "none" });
    }
    await expectSound(db);
  });

  it("gives no address again if the store was restored, because the replaced one may have given it", async () => {
    const { db } = shop.counter.app.app;
    const body = { label: "Own", network: "sandbox", xpub: xpubOf(9) };
    const { body: wallet } = await expectStatus(post("/wallets", body), 201);
    const { walletAddress } = await issue({ walletId: wallet["id"] });
    const stateAfter = async (...statements: string[]) => {
      await run([...toVersion40, ...statements].map((sql) => [sql] as const));
      await migrate(db, systemClock);
      const identity = String(walletAddress).slice(2).toLowerCase();
      const claim = await db.findOne(addressOwnerships, "WHERE identity = $1", [identity]);
      return claim?.derivedState;
    };
    expect(await stateAfter()).to.equal("held");
    expect(await stateAfter("INSERT INTO meta (name, value) VALUES ('restores', '[]')")).to.equal(
      "spent",
    );
    await expectSound(db);
  });
});
