import { createHash } from "node:crypto";
import { expect } from "chai";
import { cancelInvoice } from "../../../../src/features/invoices/invoices.ts";
import {
  findGap,
  searchAmount,
  type AmountSearch,
  type HoldTarget,
} from "../../../../src/features/invoices/holds/amount-search.ts";
import { holdAmounts, type AmountRequest } from "../../../../src/features/invoices/holds/holds.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import type { Id, RandomBytes } from "../../../../src/kernel/id.ts";
import type { RowOf } from "../../../../src/platform/database/schema/table.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { peggedToken, stated, unmarked } from "../../../support/amounts.ts";
import { appOf } from "../../../support/context.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";

/** A price of 0.03 of a token with 18 decimals: 300 surcharges of a millionth each. */
const price = 3n * 10n ** 16n;
const step = 10n ** 12n;
const surcharge = (place: number) => price + BigInt(place) * step;
const surcharges = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => surcharge(first + at));
const band = [price, ...surcharges(1, 300)];

eachStore("The amounts of holds", (store) => {
  const it = takeTurns(store);
  let shop: Ledger;
  /** Two invoices that can be paid, and a canceled one. */
  let first: Id<"invoice">;
  let second: Id<"invoice">;
  let dead: Id<"invoice">;
  let addresses = 0;

  before(async () => {
    shop = await openLedger(await store.open(), "bsc");
    await shop.scan("bsc");
    await shop.addWallet("bsc", { address: `0x${"7".repeat(40)}` });
    const issue = async () => (await shop.create({ network: "bsc" })).id;
    [first, second, dead] = [await issue(), await issue(), await issue()];
    await cancelInvoice(shop.app, testContext, shop.organizationId, dead);
  });

  /** Opens another address at which these amounts are held, for an invoice that can be paid or a dead one. */
  async function addressWith(
    held: readonly bigint[],
    ofDead: readonly bigint[] = [],
  ): Promise<HoldTarget> {
    addresses += 1;
    const address = addresses.toString(16).padStart(40, "0");
    const { organizationId } = shop;
    const place = { organizationId, network: "bsc", address, token: "USDT" } as const;
    await addAt(place, held, ofDead);
    return place;
  }

  async function addAt(
    place: HoldTarget,
    held: readonly bigint[],
    ofDead: readonly bigint[] = [],
  ): Promise<void> {
    const hold = (invoiceId: Id<"invoice">, amount: bigint, at: number): RowOf<typeof holds> => ({
      ...place,
      id: shop.ids.next("hold", shop.now()),
      amount,
      price,
      leastAmount: amount,
      invoiceId,
      kind: "amount",
      enteredAtLink: null,
      needsDecision: false,
      startsAt: shop.now() + at,
      endsAt: shop.now() + 1_000,
      releasedAt: null,
      recycledAt: null,
      recyclableKey: null,
      isNewAddress: false,
      ...unmarked,
    });
    await shop.db.write(testContext, (tx) =>
      tx.insertMany(holds, [
        ...held.map((amount) => hold(first, amount, 0)),
        ...ofDead.map((amount, at) => hold(dead, amount, at)),
      ]),
    );
  }

  const requestOf = (
    place: HoldTarget,
    invoiceId: Id<"invoice">,
    of = price,
    randomBytes: RandomBytes = systemRandom,
  ): AmountRequest => ({
    invoiceId,
    search: searchAmount(place, of, peggedToken(18), stated, randomBytes),
    leastOf: (amount) => amount,
    mark: unmarked,
    startsAt: shop.now(),
    endsAt: shop.now() + 1_000,
  });
  const holdAll = (
    requests: readonly AmountRequest[],
    listen = (tx: Tx): Tx => tx,
    randomBytes: RandomBytes = systemRandom,
  ) =>
    shop.db.write(testContext, (tx) =>
      holdAmounts(listen(tx), appOf({ db: shop.db, ids: shop.ids, randomBytes }), requests),
    );
  const storedAt = ({ address }: HoldTarget) =>
    shop.db.find(holds, "WHERE address = $1 ORDER BY amount", [address]);

  it("are held for several invoices at once, and each invoice has another one", async () => {
    const place = await addressWith([]);
    const held = await holdAll([requestOf(place, first), requestOf(place, second)]);
    // The second one cannot have the price, which the first one has by then.
    const [, other] = held;
    expect(held).to.deep.equal([price, other]);
    // The steps are ten thousandths, as long as one of the three is free.
    expect([100, 200, 300].map(surcharge)).to.include(other);
    const stored = await storedAt(place);
    expect(stored.map(({ invoiceId, amount }) => [invoiceId, amount])).to.deep.equal([
      [first, price],
      [second, other],
    ]);
  });

  it.onBoth("are the last gaps of a full band, whatever is held off its grid", async () => {
    const offGrid = [price + 1n, price + step / 2n, price + 7n * step + 5n];
    const free = surcharges(137, 138);
    const place = await addressWith([...offGrid, ...band].filter((each) => !free.includes(each)));
    const held = await holdAll([requestOf(place, first), requestOf(place, second)]);
    expect(held).to.have.members(free);
    const stored = (await storedAt(place)).filter(({ amount }) => free.includes(amount));
    expect(stored.map(({ invoiceId }) => invoiceId)).to.have.members([first, second]);
  });

  it.onBoth(
    "are any of the band if its lowest 1,000 are held, with finer digits if half of it is",
    async () => {
      const wide = 24n * 10n ** 18n;
      const coarse = 10n ** 14n;
      const held = (first: number, last: number) =>
        Array.from({ length: last - first + 1 }, (_, at) => wide + BigInt(first + at) * coarse);
      const place = await addressWith(held(0, 1_000));
      const rounds: unknown[] = [];
      const listening = (tx: Tx): Tx => ({
        ...tx,
        answers(question, searches) {
          rounds.push(searches);
          return tx.answers(question, searches);
        },
      });
      // Two fifths of the band are held at first, and a random sample of it may have more.
      let drawn = 0;
      const fixedBytes = (length: number) => {
        drawn += 1;
        const hash = createHash("shake256", { outputLength: length });
        return new Uint8Array(hash.update(`sample ${String(drawn)}`).digest());
      };
      const next = async () => {
        const request = requestOf(place, second, wide, fixedBytes);
        const [amount] = await holdAll([request], listening, fixedBytes);
        return (amount ?? 0n) - wide;
      };
      const digits = await next();
      expect(digits > 1_000n * coarse && digits <= 2_400n * coarse).to.equal(true);
      expect(digits % coarse).to.equal(0n);
      // Both samples are in one statement.
      expect(rounds).to.have.length(1);
      const rest = held(1_001, 2_400).filter((amount) => amount !== wide + digits);
      await addAt(place, rest);
      const finer = await next();
      expect(finer % step).to.equal(0n);
      expect(finer % coarse).not.to.equal(0n);
      expect(rounds).to.have.length(3);
    },
  );

  it.onBoth("are drawn three times before a gap is searched for", async () => {
    const place = await addressWith(band);
    const rounds: AmountSearch[] = [];
    const statements: string[] = [];
    const listening = (tx: Tx): Tx => ({
      ...tx,
      answers(question, searches) {
        rounds.push(...(searches as unknown as readonly AmountSearch[]));
        return tx.answers(question, searches);
      },
      all(sql, values) {
        statements.push(sql);
        return tx.all(sql, values);
      },
    });
    expect(await holdAll([requestOf(place, second)], listening)).to.deep.equal([null]);
    expect(rounds.map(({ candidates }) => candidates.amounts.includes(price))).to.deep.equal([
      ...[true, false, false],
    ]);
    // The one statement besides counts the holds of the band.
    expect(statements).to.have.length(1);
    expect(await storedAt(place)).to.have.length(band.length);
  });

  it("are those of dead invoices once no gap is left, the oldest eight at a time, but never the price", async () => {
    const recyclable = surcharges(41, 50);
    const live = surcharges(1, 300).filter((each) => !recyclable.includes(each));
    const offGrid = surcharge(7) + 5n;
    const place = await addressWith(live, [price, offGrid, ...recyclable]);
    // The search for a gap starts at the lowest surcharge.
    const noChance = (length: number) => new Uint8Array(length);
    const next = async () => {
      const [amount] = await holdAll([requestOf(place, second)], undefined, noChance);
      return amount;
    };
    expect(await next()).to.equal(surcharge(41));
    const recycled = (await storedAt(place)).filter(({ recycledAt }) => recycledAt !== null);
    expect(recycled.map(({ amount }) => amount)).to.deep.equal(surcharges(41, 48));
    for (const { invoiceId, releasedAt } of recycled) {
      expect([invoiceId, releasedAt]).to.deep.equal([dead, shop.now()]);
    }
    const further: unknown[] = [];
    for (const _ of surcharges(42, 50)) further.push(await next());
    expect(further).to.have.members(surcharges(42, 50));
    expect(await next()).to.equal(null);
  });

  it("have their gap at either end of a band, or in one of two amounts", async () => {
    const small = 10n ** 14n;
    const cases: readonly (readonly [base: bigint, all: readonly bigint[], gap: bigint | null])[] =
      [
        [price, band, surcharge(1)],
        [price, band, surcharge(300)],
        [price, band, null],
        // 1 % of a ten-thousandth is one millionth.
        [small, [small, small + step], small + step],
        [small, [small, small + step], null],
        // 1 % of less is nothing.
        [small - 1n, [small - 1n], null],
      ];
    for (const [base, all, gap] of cases) {
      const place = await addressWith(all.filter((each) => each !== gap));
      const found = await shop.db.write(testContext, (tx) =>
        findGap(tx, searchAmount(place, base, peggedToken(18), stated, systemRandom), systemRandom),
      );
      expect(found, `${String(gap)} of ${String(all.length)}`).to.equal(gap);
    }
  });
});
