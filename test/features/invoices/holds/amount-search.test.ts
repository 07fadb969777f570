import { expect } from "chai";
import {
  heldAmounts,
  nearColumns,
  searchAmount,
  searchFurther,
} from "../../../../src/features/invoices/holds/amount-search.ts";
import { encodeAmount, type Reader } from "../../../../src/platform/database/index.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";

const place = {
  organizationId: "org_1",
  network: "ethereum",
  address: "a",
  token: "USDT",
} as const;
const search = (price: bigint) => searchAmount(place, price, 6, null, systemRandom);

/** Asks a store that answers with these rows. Returns the answers, and the place and locks of each search as it was sent. */
async function asked(searches: readonly ReturnType<typeof search>[], rows: readonly object[]) {
  const sent: unknown[] = [];
  const from = Object.keys(nearColumns).length;
  const reader = {
    dialect: "postgres",
    all(_sql: string, [values]: readonly string[]) {
      for (const row of JSON.parse(values ?? "[]") as (string | number)[][]) {
        sent.push([row[from], JSON.parse(String(row[from + 2]))]);
      }
      return Promise.resolve(rows);
    },
  };
  const answers = await heldAmounts.ask(reader as unknown as Reader, searches);
  return { answers, sent };
}

describe("The search for held amounts", () => {
  it("says which candidates are held, and whether another invoice is near the price", async () => {
    const searches = [search(2_000_000n), search(3_000_000n), search(4_000_000n)];
    const [{ candidates } = { candidates: [] }] = searches;
    const { answers } = await asked(searches, [
      { place: 1, near: encodeAmount(3_000_100n), taken: null },
      { place: 0, near: null, taken: "1 3" },
    ]);
    expect(answers).to.deep.equal([
      { isNearHeld: false, taken: new Set([candidates[1], candidates[3]]) },
      { isNearHeld: true, taken: new Set() },
      { isNearHeld: false, taken: new Set() },
    ]);
  });

  it("waits for others near the price only if it may take that, in one order for all", async () => {
    const further = searchFurther(search(5_000_000n), systemRandom);
    const { sent } = await asked(
      [search(9_000_000n), search(2_000_000n), further, search(3_000_000n)],
      [],
    );
    const lock = (region: string) => `hold ethereum a USDT 7:${region}`;
    expect(sent).to.deep.equal([
      [2, []],
      [1, [lock("19"), lock("20")]],
      [3, [lock("29"), lock("30")]],
      [0, [lock("89"), lock("90")]],
    ]);
  });
});
