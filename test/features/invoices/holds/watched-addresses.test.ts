import { expect } from "chai";
import {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../../../../src/features/invoices/holds/addresses.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { archiveWallet } from "../../../../src/features/wallets/wallets.ts";
import { hour } from "../../../../src/kernel/clock.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";

// In canonical form.
const [first, second, unknown] = ["1".repeat(40), "2".repeat(40), "3".repeat(40)];

eachStore("The watched addresses", (store) => {
  store.leavesUnsound({
    checks: ["invoices.held"],
    because: "holds are ended behind the invoices",
  });

  const it = takeTurns(store);
  let shop: Ledger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "ethereum", "bsc");
    await shop.scan("ethereum");
  });
  const since = (...addresses: readonly string[]) =>
    watchedSince(shop.db, "ethereum", addresses).then((found) => [...found].sort());

  it("are those with a live hold since it began, whether their wallet is active or archived, and no others", async () => {
    const start = shop.now();
    const wallet = await shop.addWallet("ethereum", { address: `0x${first}` });
    shop.advance(hour);
    await shop.addWallet("ethereum", { address: `0x${second}` });
    await shop.create({ network: "ethereum", walletId: wallet.id });
    shop.advance(hour);
    await shop.create({ network: "ethereum", walletId: wallet.id });
    const asked = [first, second, unknown, first];
    for (const _status of ["active", "archived"]) {
      expect(await since(...asked)).to.deep.equal([
        [first, { startsAt: start + hour, markHeight: 1_000 }],
      ]);
      expect(await watchedAmong(shop.db, "ethereum", asked)).to.deep.equal([first]);
      expect(await watchedAddresses(shop.db, "ethereum")).to.deep.equal([first]);
      await archiveWallet(shop.app, testContext, shop.organizationId, wallet.id);
    }
    expect(await watchedAddresses(shop.db, "ethereum", 0)).to.deep.equal([]);
    expect(await oldestHold(shop.db, "ethereum")).to.equal(start + hour);

    await shop.db.write(testContext, (tx) => tx.run("UPDATE holds SET released_at = 1"));
    expect(await shop.db.find(holds, "")).to.have.length(2);
    expect(await since(...asked)).to.deep.equal([]);
    expect(await watchedAmong(shop.db, "ethereum", asked)).to.deep.equal([]);
    expect(await oldestHold(shop.db, "ethereum")).to.equal(null);
  });

  it("are none of another network, and none if none are asked for", async () => {
    await shop.addWallet("ethereum", { address: `0x${first}` });
    await shop.create({ network: "ethereum" });
    expect(await watchedAddresses(shop.db, "bsc")).to.deep.equal([]);
    expect([...(await watchedSince(shop.db, "bsc", [first]))]).to.deep.equal([]);
    expect(await watchedAmong(shop.db, "bsc", [first])).to.deep.equal([]);
    expect(await since()).to.deep.equal([]);
    expect(await watchedAmong(shop.db, "ethereum", [])).to.deep.equal([]);
  });
});
