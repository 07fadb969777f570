import { expect } from "chai";
import {
  heldAmounts,
  inLockOrder,
  searchAmount,
  searchFurther,
} from "../../../../src/features/invoices/holds/amount-search.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { counting, peggedToken, stated } from "../../../support/amounts.ts";
import { openLedger } from "../../../support/ledger.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

const place = {
  organizationId: "org_1",
  network: "ethereum",
  address: "7".repeat(40),
  token: "USDT",
} as const;
const search = (price: bigint) => searchAmount(place, price, peggedToken(6), stated, counting);

describe("The searches for amounts", () => {
  it("wait for others near the price only if they may take that, in one order for all", () => {
    const further = searchFurther(search(5_000_000n), systemRandom);
    const searches = [search(9_000_000n), search(2_000_000n), further, search(3_000_000n)];
    const locks = (...regions: string[]) =>
      regions.map((region) => `hold ethereum ${place.address} USDT ${region}`);
    expect(inLockOrder(searches)).to.deep.equal([
      { search: further, place: 2, locks: [] },
      { search: searches[1], place: 1, locks: locks("07:1", "07:2", "07:3") },
      { search: searches[3], place: 3, locks: locks("07:2", "07:3", "07:4") },
      { search: searches[0], place: 0, locks: locks("07:8", "07:9", "08:1") },
    ]);
  });
});

anyStore("The search for held amounts", (store) => {
  it("says which candidates are held, and whether another invoice is near the price", async () => {
    const shop = await openLedger(await store.open(), "ethereum");
    await shop.scan("ethereum");
    await shop.addWallet("ethereum", { address: `0x${place.address}` });
    const { id } = await shop.create({ network: "ethereum", amount: "2.99" });
    const [held] = await shop.db.find(holds, "WHERE invoice_id = $1", [id]);
    if (held === undefined) throw new Error("nothing is held");
    const taken = [2_000_100n, 2_000_300n];
    await shop.db.write(testContext, (tx) =>
      tx.insertMany(
        holds,
        taken.map((amount) => ({
          ...held,
          id: shop.ids.next("hold", shop.now()),
          amount,
          leastAmount: amount,
        })),
      ),
    );
    const own = searchAmount(
      place,
      2_000_000n,
      peggedToken(6),
      { ...stated, holder: id },
      counting,
    );
    const searches = [search(4_000_000n), own, search(3_000_000n), search(2_000_000n)];
    expect(await heldAmounts.ask(shop.db, searches)).to.deep.equal([
      { isNearHeld: false, taken: new Set(), unpaidOfLink: 0 },
      { isNearHeld: false, taken: new Set(taken), unpaidOfLink: 0 },
      { isNearHeld: true, taken: new Set(), unpaidOfLink: 0 },
      { isNearHeld: true, taken: new Set(taken), unpaidOfLink: 0 },
    ]);
  });
});
