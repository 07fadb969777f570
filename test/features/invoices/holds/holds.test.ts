import { expect } from "chai";
import {
  nearColumns,
  searchAmount,
  type AmountSearch,
} from "../../../../src/features/invoices/holds/amount-search.ts";
import { holdAmounts } from "../../../../src/features/invoices/holds/holds.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { decodeAmount, encodeAmount, type Tx } from "../../../../src/platform/database/index.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";

const place = {
  organizationId: "org_1",
  network: "ethereum",
  address: "1".repeat(40),
  token: "DAI",
} as const;
/** A price of 0.03 of a token with 18 decimals: 300 surcharges of a millionth each. */
const price = 3n * 10n ** 16n;
const step = 10n ** 12n;
const surcharges = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => price + BigInt(first + at) * step);

interface Stored {
  readonly invoiceId: string;
  readonly amount: bigint;
}

/**
 * A store with holds of these amounts. The search finds them only if `isFound`: otherwise they are taken between the
 * search and the hold, as on PostgreSQL, which then leaves out the hold of another.
 */
function storeWith(
  held: readonly bigint[],
  { isFound = true, isExclusive = false, recyclable = [] as readonly bigint[] } = {},
) {
  const taken = new Set(held);
  const dead = new Set(recyclable);
  const stored: Stored[] = [];
  const rounds: AmountSearch[][] = [];
  const recycled: (readonly [least: bigint, most: bigint, limit: number])[] = [];
  const columns = Object.keys({ ...nearColumns, ...holds.columns });
  const shared = new Map<unknown, object>();
  let emptyInserts = 0;

  function hold(row: Stored): boolean {
    if (taken.has(row.amount)) return false;
    taken.add(row.amount);
    stored.push(row);
    return true;
  }

  function insert(values: string): { readonly invoiceId: string }[] {
    const rows = (JSON.parse(values) as unknown[][]).map((row) => ({
      invoiceId: String(row[columns.indexOf("invoiceId")]),
      amount: decodeAmount(String(row[columns.indexOf("amount")])),
    }));
    if (rows.length === 0) emptyInserts += 1;
    return rows.filter(hold);
  }

  function count([, , , least, most, from, tail]: readonly unknown[]): number {
    return [...taken].map(encodeAmount).filter((text) => {
      const isBetween = text >= String(least) && text <= String(most);
      return isBetween && text.slice(Number(from) - 1) === tail;
    }).length;
  }

  const tx = {
    dialect: "postgres",
    isExclusive,
    shared(make: () => object) {
      const known = shared.get(make) ?? make();
      shared.set(make, known);
      return known;
    },
    answers(_question: unknown, searches: readonly AmountSearch[]) {
      rounds.push([...searches]);
      return Promise.resolve(
        searches.map(({ candidates }) => ({
          isNearHeld: false,
          taken: new Set(isFound ? candidates.filter((each) => taken.has(each)) : []),
        })),
      );
    },
    all(sql: string, values: readonly unknown[]) {
      const rows = sql.startsWith("INSERT") ? insert(String(values[0])) : [{ held: count(values) }];
      return Promise.resolve(rows);
    },
    // Such rows are stored just before the commit, so that no statement finds them.
    append: (_table: unknown, { invoiceId, amount }: Stored) =>
      void stored.push({ invoiceId, amount }),
    run(_sql: string, values: readonly unknown[]) {
      const [least, most] = [decodeAmount(String(values[3])), decodeAmount(String(values[4]))];
      recycled.push([least, most, Number(values.at(-1))]);
      const freed = [...dead].filter((each) => each >= least && each <= most);
      for (const each of freed) {
        dead.delete(each);
        taken.delete(each);
      }
      return Promise.resolve(freed.length);
    },
  };
  return {
    tx: tx as unknown as Tx,
    stored,
    rounds,
    recycled,
    emptyInserts: () => emptyInserts,
  };
}

const deps = { ids: createIds(systemRandom), randomBytes: systemRandom };
const requestOf = (number: number) => ({
  invoiceId: `inv_${String(number)}` as const,
  search: searchAmount(place, price, 18, null, systemRandom),
  leastOf: (amount: bigint) => amount,
  startsAt: 7,
  endsAt: 8,
});

describe("The amounts of holds", () => {
  it("are searched for again if another transaction has taken them since", async () => {
    const store = storeWith([price, ...surcharges(1, 4)], { isFound: false });
    const [first, second] = await holdAmounts(store.tx, deps, [requestOf(1), requestOf(2)]);
    expect([first, second]).not.to.include(price).and.not.to.include(null);
    expect(store.stored).to.have.deep.members([
      { invoiceId: "inv_1", amount: first },
      { invoiceId: "inv_2", amount: second },
    ]);
    expect(first).not.to.equal(second);
  });

  it("are held at once if they are free, and each invoice has one", async () => {
    const store = storeWith(surcharges(2, 300));
    const held = await holdAmounts(store.tx, deps, [requestOf(1), requestOf(2)]);
    // The second one cannot have the price, which the first one has by then.
    expect(held).to.deep.equal([price, price + step]);
    expect(store.stored).to.have.length(2);
    expect(store.recycled).to.deep.equal([]);
  });

  for (const isExclusive of [false, true]) {
    const database = isExclusive ? "SQLite" : "PostgreSQL";

    it(`are the last gaps of a full band, whatever is held off its grid, on ${database}`, async () => {
      const offGrid = [price + 1n, price + step / 2n, price + 7n * step + 5n];
      const free = [price + 137n * step, price + 138n * step];
      const held = [price, ...offGrid, ...surcharges(1, 300)].filter(
        (each) => !free.includes(each),
      );
      const store = storeWith(held, { isExclusive });
      const found = await holdAmounts(store.tx, deps, [requestOf(1), requestOf(2)]);
      expect(found).to.have.members(free);
      expect(store.stored).to.have.length(2);
      expect(store.recycled).to.deep.equal([]);
      expect(store.emptyInserts()).to.equal(0);
    });
  }

  it("are drawn three times before a gap is searched for", async () => {
    const store = storeWith([price, ...surcharges(1, 300)]);
    expect(await holdAmounts(store.tx, deps, [requestOf(1)])).to.deep.equal([null]);
    expect(store.rounds.map(({ length }) => length)).to.deep.equal([1, 1, 1]);
    const [first, ...further] = store.rounds.map(([search]) => search?.candidates ?? []);
    expect(first).to.include(price);
    for (const candidates of further) expect(candidates).not.to.include(price);
    expect(store.stored).to.deep.equal([]);
  });

  it("are those of dead invoices once no gap is left, eight at a time, but never the price", async () => {
    const recyclable = [price, price + 42n * step];
    const store = storeWith([price, ...surcharges(1, 300)], { recyclable });
    expect(await holdAmounts(store.tx, deps, [requestOf(1)])).to.deep.equal([price + 42n * step]);
    const band = [price + step, price + 300n * step, 8];
    expect(store.recycled).to.deep.equal([band]);
    // A second one finds nothing to recycle.
    expect(await holdAmounts(store.tx, deps, [requestOf(2)])).to.deep.equal([null]);
    expect(store.recycled).to.deep.equal([band, band]);
  });

  it("are found at both ends of a band, and in one of two amounts", async () => {
    for (const free of [price + step, price + 300n * step]) {
      const held = [price, ...surcharges(1, 300)].filter((each) => each !== free);
      const store = storeWith(held);
      expect(await holdAmounts(store.tx, deps, [requestOf(1)])).to.deep.equal([free]);
    }
    // 1 % of a ten-thousandth is one millionth.
    const small = 10n ** 14n;
    const request = {
      ...requestOf(1),
      search: { ...searchAmount(place, small, 18, null, systemRandom), candidates: [small] },
    };
    const store = storeWith([small]);
    const found = await holdAmounts(store.tx, deps, [request]);
    expect(found).to.deep.equal([small + step]);
  });
});
