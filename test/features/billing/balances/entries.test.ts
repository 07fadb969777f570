import { expect } from "chai";
import { credit } from "../../../../src/features/billing/balances/entries.ts";
import { toIso } from "../../../../src/kernel/clock.ts";
import { Problem } from "../../../../src/kernel/errors.ts";

const now = Date.UTC(2026, 0, 31, 10);

/** Reads a credit that expires at this time; the code of the refusal of its first field, if it is refused. */
function read(expiresAt: string | null | undefined, amount = "5.00") {
  try {
    return credit.parse({ amount, currency: "USD", reason: "Sorry", expiresAt }, now);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors[0]?.code ?? error.code;
  }
}

describe("A credit's input", () => {
  it("has an expiry time that is to come, or none", () => {
    expect(read(toIso(now + 1))).to.have.property("expiresAt", now + 1);
    expect(read(toIso(now))).to.equal("in_the_past");
    expect(read(toIso(now - 1))).to.equal("in_the_past");
    for (const none of [null, undefined]) expect(read(none)).to.have.property("expiresAt", null);
  });

  it("has an amount of up to a million millions", () => {
    expect(read(null, "1000000000000.00")).to.have.property("amount", 100_000_000_000_000n);
    expect(read(null, "1000000000000.01")).to.equal("billing_amount_too_large");
    expect(read(null, "0.01")).to.have.property("amount", 1n);
    expect(read(null, "0.00")).to.equal("not_positive");
  });
});
