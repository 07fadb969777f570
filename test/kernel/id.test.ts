import { expect } from "chai";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import type { IdKind } from "../../src/kernel/id.ts";
import { createIds, encodeTime, idFloor, idPattern, idPrefixes } from "../../src/kernel/id.ts";

const kinds = Object.keys(idPrefixes) as IdKind[];
/** The range of times that ids must order: 1970 to beyond the year 10000. */
const times = fc.integer({ min: 0, max: 2 ** 48 });
const random = (length: number): Uint8Array => randomBytes(length);

describe("ids", () => {
  it("sort in the order of creation within one source, even if the clock goes back", () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 2, maxLength: 50 }), (moments) => {
        const ids = createIds(random);
        const made = moments.map((at) => ids.next("invoice", at));
        expect([...made].sort()).to.deep.equal(made);
        expect(new Set(made).size).to.equal(made.length);
      }),
    );
  });

  it("sort by time across sources", () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        fc.pre(one !== other);
        const first = createIds(random).next("payment", Math.min(one, other));
        const second = createIds(random).next("payment", Math.max(one, other));
        expect(first < second).to.equal(true);
      }),
    );
  });

  it("keep their order for many ids in one millisecond, even after the highest random number", () => {
    const ids = createIds((length) => new Uint8Array(length).fill(255));
    let before = ids.next("event", 5);
    // Half of the range stays free for incrementing.
    expect(before).to.equal(`evt_${encodeTime(5)}f${"z".repeat(15)}`);
    for (let n = 0; n < 5_000; n += 1) {
      const id = ids.next("event", 5);
      expect(id > before).to.equal(true);
      expect(id.startsWith(`evt_${encodeTime(5)}`)).to.equal(true);
      expect(id).to.match(idPattern("event"));
      before = id;
    }
  });

  it("match only the pattern of their own kind", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), times, (kind, at) => {
        const id = createIds(random).next(kind, at);
        const matching = kinds.filter((other) => idPattern(other).test(id));
        expect(matching).to.deep.equal([kind]);
      }),
    );
    const id = createIds(random).next("invoice", 0);
    for (const altered of [`${id}0`, id.slice(0, -1), id.toUpperCase(), ` ${id}`, `${id}\n`]) {
      expect(idPattern("invoice").test(altered), JSON.stringify(altered)).to.equal(false);
    }
  });

  it("have a distinct prefix of three letters for each kind", () => {
    const prefixes = Object.values(idPrefixes);
    expect(prefixes.every((prefix) => /^[a-z]{3}$/.test(prefix))).to.equal(true);
    expect(new Set(prefixes).size).to.equal(prefixes.length);
  });

  it("are not below the id floor of their time", () => {
    fc.assert(
      fc.property(times, (at) => {
        const ids = createIds(random);
        const [id, next] = [ids.next("transfer", at), idFloor("transfer", at + 1)];
        expect(idFloor("transfer", at) <= id).to.equal(true);
        expect(id < next).to.equal(true);
        expect(idFloor("transfer", at)).to.match(idPattern("transfer"));
      }),
    );
  });

  it("that must be unguessable contain 160 random bits and no time", () => {
    const ids = createIds(random);
    const made = Array.from({ length: 1_000 }, () => ids.unguessable("chk"));
    expect(new Set(made).size).to.equal(made.length);
    expect(made.every((id) => /^chk_[0-9a-hjkmnp-tv-z]{32}$/.test(id))).to.equal(true);
    // Each of 32 positions takes each of 32 digits: the chance of missing one in 1,000 tries is below 10^-10.
    for (let place = 4; place < 36; place += 1) {
      expect(new Set(made.map((id) => id.charAt(place))).size).to.equal(32);
    }
  });

  it("that must be unguessable use every random bit", () => {
    const asked: number[] = [];
    const counting = createIds((length) => {
      asked.push(length);
      return Uint8Array.from({ length }, (_, place) => place);
    });
    expect(counting.unguessable("chk")).to.equal("chk_0123456789abcdefghjkmnpqrstvwxyz");
    expect(asked).to.deep.equal([32]);
  });
});
