// The upgrade of a store whose transfers were told apart by their log index.
import { expect } from "chai";
import { transfers } from "../../../../src/features/payments/table.ts";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { migrate } from "../../../../src/platform/database/schema.ts";
import { toVersion40 } from "../../../support/store/earlier-schema.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

eachStore("The upgrade of transfers to an identity without the log index", (store) => {
  it("keeps each row a transfer of its own, and numbers equal ones with those on the chain first", async () => {
    const db = await store.open();
    const row = (id: string, logIndex: number, changes: Readonly<Record<string, string>> = {}) => ({
      id,
      network: "ethereum",
      transaction_hash: "a".repeat(64),
      log_index: logIndex,
      amount: "5".padStart(78, "0"),
      to_address: "shop",
      status: "seen",
      ...changes,
    });
    const before = [
      row("trf_5", 1, { status: "orphaned" }),
      row("trf_1", 9),
      row("trf_2", 3),
      row("trf_3", 3, { status: "orphaned" }),
      row("trf_4", 4, { amount: "6".padStart(78, "0") }),
      row("trf_6", 5, { to_address: "other" }),
      row("trf_7", 3, { network: "tron" }),
      row("trf_8", 3, { transaction_hash: "b".repeat(64) }),
    ];
    await db.write(testContext, async (tx) => {
      for (const sql of toVersion40) await tx.run(sql);
      for (const each of before) {
        const names = Object.keys(each);
        await tx.run(
          `INSERT INTO transfers (${names.join(", ")}, block_height, block_hash, block_time, contract, token,
             token_decimals, from_address, is_final, verification, disposition, created_at)
           VALUES (${names.map((_, place) => `$${String(place + 1)}`).join(", ")}, 7, 'b7', 1, 'usdt', 'USDT', 6,
             'payer', 0, 'open', 'unmatched', 1)`,
          Object.values(each),
        );
      }
    });
    const applied = await migrate(db, systemClock);
    expect(applied.map(({ version }) => version)).to.include(47);
    const after = await db.find(transfers, "ORDER BY id");
    expect(after.map(({ id, ordinal, logIndex }) => [id, ordinal, logIndex])).to.deep.equal([
      ["trf_1", 1, 9],
      ["trf_2", 0, 3],
      ["trf_3", 3, 3],
      ["trf_4", 0, 4],
      ["trf_5", 2, 1],
      ["trf_6", 0, 5],
      ["trf_7", 0, 3],
      ["trf_8", 0, 3],
    ]);
    expect(after.filter(({ status }) => status === "seen")).to.have.length(6);
    // From now on, the store itself refuses a second row of a transfer, whatever its log index is.
    const [first] = after;
    const again = first === undefined ? [] : [{ ...first, id: "trf_9" as const, logIndex: 77 }];
    const inserted = db.write(testContext, (tx) => tx.insertMany(transfers, again));
    expect(
      await inserted.then(
        () => "stored",
        () => "refused",
      ),
    ).to.equal("refused");
    await db.write(testContext, (tx) => tx.run("DELETE FROM transfers"));
  });
});
