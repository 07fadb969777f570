// A process with a limit on file sizes: it writes until a write is refused, and prints the answer.
import { openDatabase } from "../../../src/platform/database/open.ts";
import { testContext } from "../../support/store/stores.ts";
import { account, accounts, countEntries, deposit } from "./accounts.ts";

const db = await openDatabase({ sqliteFile: process.argv[2] ?? "" });
let acknowledged = 0;
let refused = 0;
for (let round = 0; round < 60; round += 1) {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      db.write(testContext, async (tx) => {
        const id = `${String(round)}-${String(index)}`;
        await deposit(tx, "a", 1n, id);
        // Modifies many pages in the transaction without enlarging the store.
        await tx.insert(accounts, account(id, { owner: "x".repeat(3_000) }));
        await tx.run("DELETE FROM test_accounts WHERE id = $1", [id]);
      }),
    ),
  );
  acknowledged += results.filter(({ status }) => status === "fulfilled").length;
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const { code } = result.reason as { code?: string };
    if (code !== "store_unavailable") throw result.reason;
    refused += 1;
  }
}
const couldRead = await countEntries(db);
process.stdout.write(JSON.stringify({ acknowledged, refused, couldRead }));
await db.close();
