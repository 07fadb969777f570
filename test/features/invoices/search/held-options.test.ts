import { expect } from "chai";
import { mergeFound } from "../../../../src/features/invoices/search/listing.ts";
import type { Found, Key, Walk } from "../../../../src/platform/database/query/facets.ts";

const walk = (direction: "ASC" | "DESC"): Walk => ({
  table: "invoices",
  facet: null,
  order: ["created_at", "id"],
  direction,
  scope: [],
});
const found = (keys: readonly Key[], resumeAt: Key | null = null): Found => ({ keys, resumeAt });

describe("Two searches for invoices in one order", () => {
  it("give each invoice once, in the order of both", () => {
    const one = found([
      [1, "a"],
      [2, "c"],
    ]);
    const other = found([
      [1, "a"],
      [2, "b"],
      [3, "a2"],
    ]);
    const merged = [
      [1, "a"],
      [2, "b"],
      [2, "c"],
      [3, "a2"],
    ];
    expect(mergeFound(walk("ASC"), one, other)).to.deep.equal(found(merged));
    const down = mergeFound(walk("DESC"), found(one.keys.toReversed()), other);
    expect(down).to.deep.equal(found(merged.toReversed()));
  });

  it("end where the first of them has ended, with that key, whichever it is", () => {
    const whole = found([
      [1, "a"],
      [4, "d"],
      [6, "f"],
    ]);
    const ended = found([[2, "b"]], [4, "d"]);
    const upTo4 = {
      keys: [
        [1, "a"],
        [2, "b"],
        [4, "d"],
      ],
      resumeAt: [4, "d"],
    };
    expect(mergeFound(walk("ASC"), whole, ended)).to.deep.equal(upTo4);
    expect(mergeFound(walk("ASC"), ended, whole)).to.deep.equal(upTo4);
    const later = found([[5, "e"]], [6, "f"]);
    expect(mergeFound(walk("ASC"), later, ended)).to.deep.equal(found([[2, "b"]], [4, "d"]));
    expect(mergeFound(walk("ASC"), ended, later)).to.deep.equal(found([[2, "b"]], [4, "d"]));
    // Downward, the key that comes first is the greater one.
    const down = mergeFound(walk("DESC"), later, found([[8, "h"]], [7, "g"]));
    expect(down).to.deep.equal(found([[8, "h"]], [7, "g"]));
  });
});
