// The upgrade of a store whose operator added a token of which 0.01 is a lot.
import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { expectStatus, type Json, type Merchant } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { toVersion40 } from "../../support/store/earlier-schema.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openOptionsCounter, type OptionsCounter } from "../../support/counter.ts";

/** Takes the amounts of the schema after version 38 back. */
const toVersion38 = [
  ...toVersion40,
  "DROP INDEX holds_entered",
  "DROP INDEX holds_bare",
  "ALTER TABLE holds DROP COLUMN needs_decision",
  "ALTER TABLE holds DROP COLUMN entered_at_link",
  "ALTER TABLE payments DROP COLUMN rounding_amount",
  "ALTER TABLE invoices DROP COLUMN dust_amount",
  "ALTER TABLE invoices DROP COLUMN entered_at_link",
  "DELETE FROM schema_versions WHERE version > 38",
];

eachStore("The upgrade of invoices in a token of a small dust", (store) => {
  let counter: OptionsCounter;
  let merchant: Merchant;
  before(async () => {
    counter = await openOptionsCounter(store);
    merchant = await counter.merchant();
  });
  after(() => counter.stop());

  it("asks for no more than is missing, and notices what is too much", async () => {
    const own = { label: "Own", network: "sandbox", xpub: xpubOf(8) };
    const { body: wallet } = await expectStatus(counter.post(merchant, "/wallets", own), 201);
    const walletId = wallet["id"];
    const issue = (more: Json) => {
      const priced = { amount: "25.00", settlementCurrency: "USD", walletId };
      return expectStatus(counter.post(merchant, "/invoices", { ...priced, ...more }), 201);
    };
    const alone = { tokenSymbol: "WBTC", network: "sandbox" };
    const [{ body: partly }, { body: over }] = [await issue(alone), await issue(alone)];
    const several = ["USDT", "WBTC"].map((tokenSymbol) => ({
      network: "sandbox",
      tokenSymbol,
      walletId,
    }));
    const { body: chosen } = await expectStatus(
      counter.post(merchant, "/invoices", {
        amount: "25.00",
        settlementCurrency: "USD",
        paymentOptions: several,
      }),
      201,
    );
    const choose = (tokenSymbol: string) =>
      expectStatus(
        counter.app.request("POST", `/v1/checkout/${String(chosen["checkoutId"])}/option`, {
          body: { network: "sandbox", tokenSymbol },
        }),
        200,
      );
    await choose("WBTC");
    await choose("USDT");

    const { db } = counter.app.app;
    await db.write(testContext, async (tx) => {
      for (const sql of toVersion38) await tx.run(sql);
    });
    await migrate(db, systemClock);

    const read = ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`);
    const payTo = async ({ walletAddress }: Json, units: bigint, token: string) => {
      await counter.pay(String(walletAddress).slice(2).toLowerCase(), units, { token });
      await counter.mine(3);
    };
    await payTo(partly, 20_000n, "WBTC");
    expect(await read(partly)).to.include({ status: "partially_paid", remainingAmount: "0.00005" });
    await payTo(over, 900_000n, "WBTC");
    expect(await read(over)).to.include({ exception: "overpaid", owedAmount: "0.00875" });
    await payTo(await read(chosen), 20_000_000n, "USDT");
    await choose("WBTC");
    expect(await read(chosen)).to.include({ remainingAmount: "0.00005" });
  });
});
