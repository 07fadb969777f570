import { expect } from "chai";
import fc from "fast-check";
import {
  computeCharges,
  freezeInputs,
  lineKinds,
  thawInputs,
  type ChargeInputs,
  type CreditInput,
  type DiscountInput,
} from "../../../src/features/billing/charges.ts";
import { ratio } from "../../../src/kernel/money/ratio.ts";

const at = Date.parse("2026-11-01T00:00:00Z");

const scale = process.env["TILL_PROVE"] === "1" ? 50 : 1;
const inputs = (changes: Partial<ChargeInputs> = {}): ChargeInputs => ({
  currency: "USD",
  decimals: 2,
  at,
  plan: { name: "Growth", price: 4_900n },
  usage: null,
  adjustments: [],
  discounts: [],
  credits: [],
  minCollectable: 100n,
  ...changes,
});

const percent = (value: bigint, changes: Partial<DiscountInput> = {}) =>
  ({
    id: "dsc_1",
    kind: "percent",
    share: ratio(value, 100n),
    reason: "Welcome",
    periods: null,
    periodsUsed: 0,
    ...changes,
  }) as DiscountInput;

const fixed = (amount: bigint, changes: Partial<DiscountInput & { currency: string }> = {}) =>
  ({
    id: "dsc_9",
    kind: "fixed",
    amount,
    currency: "USD",
    reason: "Partner",
    periods: null,
    periodsUsed: 0,
    ...changes,
  }) as DiscountInput;

const credit = (
  id: number,
  remaining: bigint,
  changes: Partial<CreditInput> = {},
): CreditInput => ({
  id: `crd_${String(id).padStart(3, "0")}`,
  remaining,
  currency: "USD",
  expiresAt: null,
  reason: "Sorry",
  ...changes,
});

const amounts = (given: ChargeInputs) =>
  computeCharges(given).lines.map(({ kind, amount }) => [kind, amount]);

describe("the charges of a platform invoice", () => {
  it("match the worked example to the cent", () => {
    const charges = computeCharges(
      inputs({
        usage: { planName: "Growth", count: 263, included: 200, overagePrice: 35n },
        adjustments: [
          { id: "adj_1", amount: 1_500n, description: "Onboarding" },
          { id: "adj_2", amount: -410n, description: "SLA" },
        ],
        discounts: [percent(15n, { periods: 3, periodsUsed: 1 }), fixed(1_000n)],
        credits: [
          credit(2, 3_000n),
          credit(3, 2_500n, { expiresAt: Date.parse("2026-12-31T00:00:00Z") }),
        ],
      }),
    );
    expect(
      charges.lines.map(({ kind, quantity, amount }) => [kind, quantity, amount]),
    ).to.deep.equal([
      ["plan", 1, 4_900n],
      ["usage", 63, 2_205n],
      ["adjustment", 1, 1_500n],
      ["adjustment", 1, -410n],
      ["discount", 1, -1_066n],
      ["discount", 1, -1_000n],
      ["credit", 1, -2_500n],
      ["credit", 1, -3_000n],
    ]);
    expect(charges).to.deep.include({
      subtotal: 8_195n,
      discountTotal: 2_066n,
      creditTotal: 5_500n,
      total: 629n,
      newCredit: 0n,
      carried: 0n,
      isCollected: true,
      discountUses: [
        { id: "dsc_1", amount: 1_066n },
        { id: "dsc_9", amount: 1_000n },
      ],
      creditUses: [
        { id: "crd_003", amount: 2_500n },
        { id: "crd_002", amount: 3_000n },
      ],
      adjustmentIds: ["adj_1", "adj_2"],
    });
    expect(charges.lines.map(({ description }) => description)).to.deep.equal([
      "Growth plan",
      "Invoices beyond the 200 included in Growth",
      "Onboarding",
      "SLA",
      "Discount of 15 %: Welcome",
      "Discount of 10.00 USD: Partner",
      "Credit: Sorry",
      "Credit: Sorry",
    ]);
  });

  it("match the second example: a negative sum becomes a credit and no discount is used", () => {
    const charges = computeCharges(
      inputs({
        plan: { name: "Small", price: 1_000n },
        adjustments: [{ id: "adj_1", amount: -2_500n, description: "Refund" }],
        discounts: [percent(20n)],
        credits: [credit(1, 500n)],
      }),
    );
    expect(charges).to.deep.include({
      subtotal: -1_500n,
      discountTotal: 0n,
      creditTotal: -1_500n,
      total: 0n,
      newCredit: 1_500n,
      discountUses: [],
      creditUses: [],
      isCollected: false,
    });
    expect(charges.lines.at(-1)).to.include({ kind: "credit", amount: 1_500n, sourceId: null });
  });

  it("that come to zero use no discount and no credit, and carry nothing", () => {
    const charges = computeCharges(
      inputs({
        adjustments: [{ id: "adj_1", amount: -4_900n, description: "Refund" }],
        discounts: [percent(50n)],
        credits: [credit(1, 500n)],
      }),
    );
    expect(charges).to.deep.include({
      subtotal: 0n,
      discountTotal: 0n,
      creditTotal: 0n,
      total: 0n,
      newCredit: 0n,
      discountUses: [],
      creditUses: [],
      carried: 0n,
      isCollected: false,
    });
  });

  it("become a credit if the discounts make them negative", () => {
    const charges = computeCharges(
      inputs({
        adjustments: [{ id: "adj_1", amount: -4_000n, description: "Refund" }],
        discounts: [percent(50n)],
      }),
    );
    expect(charges).to.include({ subtotal: 900n, discountTotal: 2_450n, newCredit: 1_550n });
    expect(charges.total).to.equal(0n);
  });

  it("apply each percentage to the amount that older ones left", () => {
    const given = inputs({
      plan: { name: "Round", price: 10_000n },
      discounts: [percent(10n, { id: "dsc_2" }), percent(10n)],
    });
    expect(amounts(given).slice(1)).to.deep.equal([
      ["discount", -1_000n],
      ["discount", -900n],
    ]);
    expect(computeCharges(given).discountUses.map(({ id }) => id)).to.deep.equal([
      "dsc_1",
      "dsc_2",
    ]);
  });

  it("apply percentages before fixed discounts, whichever is older", () => {
    const given = inputs({ discounts: [fixed(1_000n, { id: "dsc_0" }), percent(10n)] });
    expect(amounts(given).slice(1)).to.deep.equal([
      ["discount", -490n],
      ["discount", -1_000n],
    ]);
  });

  it("round half a cent away from zero, once per discount", () => {
    // 10 % of 0.05 is half a cent.
    const price = (units: bigint) =>
      inputs({ plan: { name: "P", price: units }, discounts: [percent(10n)] });
    expect(computeCharges(price(5n)).discountTotal).to.equal(1n);
    expect(computeCharges(price(4n)).discountTotal).to.equal(0n);
    expect(computeCharges(price(15n)).discountTotal).to.equal(2n);
    expect(computeCharges(price(25n)).discountTotal).to.equal(3n);
  });

  it("forfeit a discount's excess over plan and usage and never discount adjustments", () => {
    const charges = computeCharges(
      inputs({
        adjustments: [{ id: "adj_1", amount: 1_500n, description: "Onboarding" }],
        discounts: [fixed(90_000n)],
      }),
    );
    expect(charges).to.include({ discountTotal: 4_900n, total: 1_500n, newCredit: 0n });
  });

  it("do not use a discount that would take nothing, is exhausted or has another currency", () => {
    const charges = computeCharges(
      inputs({
        discounts: [
          percent(50n, { id: "dsc_0", periods: 2, periodsUsed: 2 }),
          percent(100n),
          percent(10n, { id: "dsc_2" }),
          fixed(500n, { currency: "EUR", id: "dsc_3" }),
          fixed(500n),
        ],
      }),
    );
    expect(charges.discountUses).to.deep.equal([{ id: "dsc_1", amount: 4_900n }]);
    const abroad = computeCharges(inputs({ discounts: [fixed(500n, { currency: "EUR" })] }));
    expect(abroad).to.deep.include({ discountTotal: 0n, discountUses: [], total: 4_900n });
  });

  it("do not use a credit that has another currency, expired before the issue or is spent", () => {
    const charges = computeCharges(
      inputs({
        credits: [
          credit(1, 900n, { currency: "EUR" }),
          credit(2, 900n, { expiresAt: at }),
          credit(3, 900n, { expiresAt: at + 1 }),
          credit(4, 0n),
        ],
      }),
    );
    expect(charges.creditUses).to.deep.equal([{ id: "crd_003", amount: 900n }]);
  });

  it("use the credits that expire first, then the oldest, up to the amount due", () => {
    const charges = computeCharges(
      inputs({
        credits: [
          credit(2, 4_000n),
          credit(1, 400n),
          credit(3, 200n, { expiresAt: at + 20 }),
          credit(4, 100n, { expiresAt: at + 10 }),
          credit(5, 700n),
        ],
      }),
    );
    expect(charges.creditUses).to.deep.equal([
      { id: "crd_004", amount: 100n },
      { id: "crd_003", amount: 200n },
      { id: "crd_001", amount: 400n },
      { id: "crd_002", amount: 4_000n },
      { id: "crd_005", amount: 200n },
    ]);
    expect(charges).to.include({ total: 0n, isCollected: false, carried: 0n });
  });

  it("bill no usage within the included invoices, without a limit or without an overage price", () => {
    const usage = (changes: object) =>
      amounts(
        inputs({
          usage: { planName: "Growth", count: 200, included: 200, overagePrice: 35n, ...changes },
        }),
      ).length;
    expect(usage({})).to.equal(1);
    expect(usage({ count: 201 })).to.equal(2);
    expect(usage({ count: 5_000, included: null })).to.equal(1);
    expect(usage({ count: 5_000, overagePrice: null })).to.equal(1);
    expect(usage({ count: 1, included: 0 })).to.equal(2);
  });

  it("carry a total that is too small to collect forward to the next invoice", () => {
    const small = (total: bigint) =>
      computeCharges(inputs({ credits: [credit(1, 4_900n - total)] }));
    expect(small(0n)).to.include({ isCollected: false, carried: 0n });
    expect(small(1n)).to.include({ isCollected: false, carried: 1n, total: 1n });
    expect(small(99n)).to.include({ isCollected: false, carried: 99n, total: 99n });
    expect(small(100n)).to.include({ isCollected: true, carried: 0n, total: 100n });
  });

  const id = <P extends string>(prefix: P) =>
    fc.integer({ min: 0, max: 10_000 }).map((n): `${P}_${string}` => `${prefix}_${String(n)}`);
  const units = (min: bigint, max = 1_000_000n) => fc.bigInt(min, max);
  const periods = fc.constantFrom(
    { periods: null, periodsUsed: 3 },
    { periods: 3, periodsUsed: 1 },
    { periods: 3, periodsUsed: 3 },
  );
  const unique = <T extends { id: string }>(one: fc.Arbitrary<T>) =>
    fc.uniqueArray(one, { selector: (item) => item.id, maxLength: 8 });
  const anyInputs: fc.Arbitrary<ChargeInputs> = fc.record({
    currency: fc.constant("USD"),
    decimals: fc.constant(2),
    at: fc.constant(at),
    plan: fc.record({ name: fc.string(), price: units(0n) }),
    usage: fc.option(
      fc.record({
        planName: fc.string(),
        count: fc.nat(100_000),
        included: fc.option(fc.nat(100_000)),
        overagePrice: fc.option(units(0n, 1_000n)),
      }),
    ),
    adjustments: unique(
      fc.record({ id: id("adj"), amount: units(-1_000_000n), description: fc.string() }),
    ),
    discounts: unique(
      fc
        .tuple(
          periods,
          id("dsc"),
          fc.oneof(
            fc
              .bigInt(1n, 10_000n)
              .map((n) => ({ kind: "percent" as const, share: ratio(n, 10_000n) })),
            fc.record({
              kind: fc.constant("fixed" as const),
              amount: units(1n),
              currency: fc.constantFrom("USD", "EUR"),
            }),
          ),
        )
        .map(([span, of, terms]): DiscountInput => ({ ...span, ...terms, id: of, reason: "r" })),
    ),
    credits: unique(
      fc.record({
        id: id("crd"),
        remaining: units(0n),
        currency: fc.constantFrom("USD", "EUR"),
        expiresAt: fc.option(fc.integer({ min: at - 5, max: at + 5 })),
        reason: fc.string(),
      }),
    ),
    minCollectable: units(0n, 200n),
  });

  it("add up for any inputs", () => {
    fc.assert(
      fc.property(anyInputs, (given) => {
        const charges = computeCharges(given);
        const { lines, subtotal, discountTotal, creditTotal, total } = charges;
        const sum = (kinds: readonly string[]) =>
          lines.reduce((all, one) => (kinds.includes(one.kind) ? all + one.amount : all), 0n);
        expect(sum(lineKinds)).to.equal(total);
        expect(sum(["plan", "usage", "adjustment"])).to.equal(subtotal);
        expect(sum(["discount"])).to.equal(-discountTotal);
        expect(sum(["credit"])).to.equal(-creditTotal);
        expect(subtotal - discountTotal - creditTotal).to.equal(total);
        expect(total >= 0n && discountTotal >= 0n).to.equal(true);
        expect(discountTotal <= sum(["plan", "usage"])).to.equal(true);
        for (const line of lines) {
          expect(BigInt(line.quantity) * line.unitAmount).to.equal(line.amount);
        }
      }),
      { numRuns: 500 * scale },
    );
  });

  it("take no more than a credit or discount has and use none that takes nothing", () => {
    fc.assert(
      fc.property(anyInputs, (given) => {
        const charges = computeCharges(given);
        const held = new Map(given.credits.map((one) => [one.id, one]));
        for (const { id: used, amount } of charges.creditUses) {
          const of = held.get(used);
          expect(amount > 0n && amount <= (of?.remaining ?? 0n)).to.equal(true);
          expect(of?.currency).to.equal("USD");
        }
        const terms = new Map(given.discounts.map((one) => [one.id, one]));
        for (const { id: used, amount } of charges.discountUses) {
          const { periods: all = null, periodsUsed = 0 } = terms.get(used) ?? {};
          expect(amount > 0n && (all === null || periodsUsed < all)).to.equal(true);
        }
        expect(charges.newCredit === 0n || charges.creditUses.length === 0).to.equal(true);
        expect(charges.newCredit === 0n || charges.total === 0n).to.equal(true);
        expect(charges.isCollected).to.equal(
          charges.total > 0n && charges.total >= given.minCollectable,
        );
        expect(charges.carried).to.equal(charges.isCollected ? 0n : charges.total);
      }),
      { numRuns: 500 * scale },
    );
  });

  it("are the same when recomputed from an invoice's stored inputs, in any order", () => {
    fc.assert(
      fc.property(anyInputs, (given) => {
        const kept = thawInputs(JSON.parse(JSON.stringify(freezeInputs(given))) as never);
        expect(kept).to.deep.equal(given);
        const turned = {
          ...given,
          adjustments: [...given.adjustments].reverse(),
          discounts: [...given.discounts].reverse(),
          credits: [...given.credits].reverse(),
        };
        expect(computeCharges(turned)).to.deep.equal(computeCharges(given));
      }),
      { numRuns: 200 * scale },
    );
  });
});
