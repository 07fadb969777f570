import { expect } from "chai";
import { normalizeEntered, readAmounts } from "../../../src/features/payment-links/terms.ts";
import { defineProblem, type Problem } from "../../../src/kernel/errors.ts";
import { findCurrency, parseMoney } from "../../../src/kernel/money/money.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { refusal } from "../../support/ledger.ts";

const usd = findCurrency("USD");

/** Reads the amounts of a link, of which those above 1000 are refused as `tooLarge` says. */
async function read(amounts: Parameters<typeof readAmounts>[0], tooLarge?: Problem) {
  const asked: string[] = [];
  const found = await readAmounts(amounts, (text) => {
    asked.push(text);
    if (usd === null) throw new Error("there is no such currency");
    const amount = parseMoney(text, usd);
    return amount.units > 100_000n && tooLarge !== undefined
      ? Promise.reject(tooLarge)
      : Promise.resolve(amount);
  });
  return { ...found, asked };
}

const none = { amount: null, minAmount: null, maxAmount: null };

describe("The amounts of a payment link", () => {
  it("are one, or bounds of what the payer enters, or none", async () => {
    expect(await read({ amount: "5" })).to.deep.include({ ...none, amount: "5.00" });
    expect(await read({ minAmount: "5" })).to.deep.include({ ...none, minAmount: "5.00" });
    expect(await read({ maxAmount: "9" })).to.deep.include({ ...none, maxAmount: "9.00" });
    expect(await read({ minAmount: "5", maxAmount: "5" })).to.deep.include({
      amount: null,
      minAmount: "5.00",
      maxAmount: "5.00",
    });
    // The other terms are checked with any amount.
    expect(await read({})).to.deep.equal({ ...none, asked: ["100"] });
  });

  it("are not both, and bounds are in order", async () => {
    for (const [amounts, pointer] of [
      [{ amount: "5", minAmount: "1" }, "/amount"],
      [{ amount: "5", maxAmount: "9" }, "/amount"],
      [{ minAmount: "5.01", maxAmount: "5" }, "/maxAmount"],
    ] as const) {
      const { errors } = await refusal(read(amounts));
      expect(errors.map((error) => error.pointer)).to.deep.equal([pointer]);
    }
  });

  it("name the bound of which no invoice can be issued, but not if the reason lies elsewhere", async () => {
    const Refused = defineProblem({ code: "refused", status: 422, title: "Refused" });
    const Broken = defineProblem({ code: "broken", status: 500, title: "Broken" });
    for (const bound of ["minAmount", "maxAmount"] as const) {
      const problem = await refusal(read({ [bound]: "1001" }, new Refused("Too much.")));
      expect(problem.status).to.equal(400);
      expect(problem.errors[0]).to.include({ pointer: `/${bound}` });
      expect(problem.errors[0]?.message).to.contain("Too much.");
      for (const failure of [new Broken("It broke."), new StoreUnavailable("The disk is full.")]) {
        expect(await refusal(read({ [bound]: "1001" }, failure))).to.equal(failure);
      }
    }
    const own = await refusal(read({ amount: "1001" }, new Refused("Too much.")));
    expect(own.code).to.equal("refused");
  });

  it("are written with a point or a comma, and with marks of direction around them", () => {
    for (const [text, amount] of [
      ["12,50", "12.50"],
      [" 1 250.50 ", "1250.50"],
      ["1,250.50", "1,250.50"],
      ["\u200e12.5\u200f", "12.5"],
      ["\u200b12\ufeff.5", "12.5"],
      [`${"1".repeat(40)},5`, "1".repeat(40)],
    ]) {
      expect(normalizeEntered(text ?? "")).to.equal(amount);
    }
  });
});
