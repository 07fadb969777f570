import { expect } from "chai";
import fc from "fast-check";
import { Defect } from "../../src/kernel/errors.ts";
import { transitions } from "../../src/kernel/transitions.ts";

const declared = {
  draft: ["open"],
  open: ["open", "paid", "canceled"],
  paid: [],
  canceled: [],
} as const;
const invoice = transitions(declared);

describe("transitions", () => {
  it("allow only what is declared", () => {
    const states = fc.constantFrom(...invoice.states);
    fc.assert(
      fc.property(states, states, (from, to) => {
        const isDeclared = (declared[from] as readonly string[]).includes(to);
        expect(invoice.allows(from, to)).to.equal(isDeclared);
        const attempt = (): void => {
          invoice.assertTransition(from, to);
        };
        if (isDeclared) expect(attempt).not.to.throw();
        else expect(attempt).to.throw(Defect, `'${to}' may not follow '${from}'`);
      }),
    );
  });

  it("return the states that may follow a state", () => {
    expect(invoice.next("open")).to.deep.equal(["open", "paid", "canceled"]);
    expect(invoice.next("paid")).to.deep.equal([]);
  });

  it("let a state follow itself only if declared", () => {
    expect(invoice.allows("open", "open")).to.equal(true);
    expect(invoice.allows("paid", "paid")).to.equal(false);
  });

  it("refuse an undeclared state", () => {
    const stored = "constructor" as "draft";
    expect(() => invoice.allows(stored, "open")).to.throw(Defect, "'constructor'");
  });
});
