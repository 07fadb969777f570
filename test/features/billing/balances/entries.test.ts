import { expect } from "chai";
import { credit, discount } from "../../../../src/features/billing/balances/entries.ts";
import { toIso } from "../../../../src/kernel/clock.ts";
import { Problem } from "../../../../src/kernel/errors.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";

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

describe("The status of an entry", () => {
  const ids = createIds(systemRandom);
  const owned = { organizationId: ids.next("organization", now), createdBy: "system" };

  it("tells from its expiry time on that a credit has expired, unless it is consumed", () => {
    const asked = { amount: "5.00", currency: "USD", reason: "Sorry", expiresAt: toIso(now + 9) };
    const row = credit.begin({ ...credit.parse(asked, now), ...owned }, now, ids);
    const statusAt = (at: number, remaining = 1n) =>
      credit.present({ row: { ...row, remaining }, at }).status;
    expect([statusAt(now + 8), statusAt(now + 9)]).to.deep.equal(["available", "expired"]);
    expect([statusAt(now + 8, 0n), statusAt(now + 9, 0n)]).to.deep.equal(["consumed", "consumed"]);
    const forever = { ...row, expiresAt: null };
    expect(credit.present({ row: forever, at: now + 10 }).status).to.equal("available");
  });

  it("tells that a discount is exhausted once all its invoices used it", () => {
    const statusOf = (periods: number | null, periodsUsed: number) => {
      const asked = { kind: "percent", value: "15", reason: "Welcome", periods } as const;
      const row = discount.begin({ ...discount.parse(asked, now), ...owned }, now, ids);
      return discount.present({ row: { ...row, periodsUsed }, at: now }).status;
    };
    expect([statusOf(2, 1), statusOf(2, 2)]).to.deep.equal(["active", "exhausted"]);
    expect([statusOf(null, 0), statusOf(null, 9)]).to.deep.equal(["active", "active"]);
  });
});
