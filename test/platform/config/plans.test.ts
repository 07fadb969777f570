import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ConfigError } from "../../../src/platform/config/config.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { type PlanCatalog, parsePlans } from "../../../src/platform/config/plans.ts";

const shipped = readFileSync(new URL("../../../config/plans.yaml", import.meta.url), "utf8");

function catalog(text: string): PlanCatalog {
  const parsed = parsePlans(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
}

function problems(text: string): string[] {
  const parsed = parsePlans(text);
  if (parsed.ok) throw new Error("nothing was found wrong");
  return parsed.problems.map(
    ({ path, line, message }) => `${path || `line ${String(line)}`}: ${message}`,
  );
}

const billing = `billing:
  dueDays: 7
  graceDays: 7
  cancelAfterSuspendedDays: 30
  paymentInFlightHours: 24
  reminderDays: [-3, 0, 3]
  minCollectable: "1.00"
`;

const plan = (changes: Readonly<Record<string, string>> = {}) => {
  const fields = {
    name: "Growth",
    description: "For a business",
    price: '"49.00"',
    currency: "USD",
    interval: "month",
    trialDays: "14",
    includedInvoices: "200",
    overagePrice: '"0.35"',
    features: "[Webhooks]",
    ...changes,
  };
  const lines = Object.entries(fields).map(([name, value]) => `    ${name}: ${value}`);
  return `${billing}plans:\n  growth:\n${lines.join("\n")}\n`;
};

describe("the plans file", () => {
  it("is shipped with a free plan, paid plans and a billing policy", () => {
    const { plans, policy } = catalog(shipped);
    expect(plans.map(({ id }) => id)).to.deep.equal(["starter", "growth", "scale"]);
    expect(plans[0]).to.include({ price: "0.00", overagePrice: null, trialDays: 0 });
    expect(plans[1]).to.deep.include({
      name: "Growth",
      price: "49.00",
      currency: "USD",
      interval: "month",
      trialDays: 14,
      includedInvoices: 200,
      overagePrice: "0.35",
      policy,
    });
    expect(policy).to.deep.equal({
      dueDays: 7,
      graceDays: 7,
      cancelAfterSuspendedDays: 30,
      paymentInFlightHours: 24,
      reminderDays: [-3, 0, 3],
      minCollectable: "1.00",
    });
  });

  it("stores amounts in canonical form, with the decimals of the currency", () => {
    const [euro] = catalog(plan({ price: '"49"', overagePrice: '"0.5"', currency: "EUR" })).plans;
    expect(euro).to.include({ price: "49.00", overagePrice: "0.50" });
    const [yen] = catalog(plan({ price: '"4900"', overagePrice: '"35"', currency: "JPY" })).plans;
    expect(yen).to.include({ price: "4900", overagePrice: "35" });
  });

  it("lets a plan override parts of the policy", () => {
    const { plans, policy } = catalog(plan({ billing: "{ dueDays: 30, reminderDays: [] }" }));
    expect(plans[0]?.policy).to.deep.equal({ ...policy, dueDays: 30, reminderDays: [] });
  });

  it("reports all problems at once", () => {
    const told = problems(
      plan({
        price: "49.00",
        currency: "usd",
        interval: "week",
        trialDays: "-1",
        includedInvoices: "1.5",
        color: "red",
        billing: "{ reminderDays: [3, 0], dueDays: 0 }",
      }),
    );
    const places = told.map((text) => text.slice(0, text.indexOf(":")));
    expect(places.sort()).to.deep.equal([
      "plans.growth.billing.dueDays",
      "plans.growth.billing.reminderDays",
      "plans.growth.color",
      "plans.growth.currency",
      "plans.growth.includedInvoices",
      "plans.growth.interval",
      "plans.growth.price",
      "plans.growth.trialDays",
    ]);
    expect(told.find((text) => text.startsWith("plans.growth.price"))).to.contain("in quotes");
  });

  const alone: readonly (readonly [string, string, RegExp])[] = [
    [
      "a price with too many decimals",
      plan({ price: '"49.001"' }),
      /growth.price: USD has at most 2/,
    ],
    ["a price below zero", plan({ price: '"-1"' }), /growth.price: must be an amount/],
    ["a price without a limit", plan({ includedInvoices: "null" }), /growth.overagePrice: must be/],
    ["an id of capitals", plan().replace("growth:", "Growth:"), /a plan's id starts with/],
    ["no plan", `${billing}plans: {}\n`, /plans: must contain at least one plan/],
    ["no deadlines", plan().replace(billing, ""), /billing: /],
    ["an empty file", "", /billing: is missing/],
    ["text that is not YAML", "plans: [", /line 1: /],
    ["a plan twice", `${plan()}  growth: {}\n`, /line 19: /],
  ];
  for (const [title, text, expected] of alone) {
    it(`refuses ${title}`, () => {
      expect(problems(text).join("\n")).to.match(expected);
    });
  }

  describe("as a setting", () => {
    const folder = mkdtempSync(join(tmpdir(), "till plans "));
    after(() => {
      rmSync(folder, { recursive: true });
    });
    const load = (env: Readonly<Record<string, string>>) =>
      loadConfig({ mode: "serve", env: { TILL_DATA_DIR: folder, ...env }, cwd: folder });

    it("is the shipped file or the operator's own", async () => {
      expect((await load({})).config.plans).to.deep.equal(catalog(shipped));
      const path = join(folder, "own.yaml");
      writeFileSync(path, plan({ name: "Own" }));
      const { config } = await load({ TILL_PLANS_FILE: path });
      expect(config.plans.plans.map(({ name }) => name)).to.deep.equal(["Own"]);
    });

    it("prevents the start if invalid, and is reported with all other problems", async () => {
      const path = join(folder, "wrong.yaml");
      const text = plan({ price: '"x"', trialDays: "many" });
      const lineOf = (entry: string) =>
        String(text.slice(0, text.indexOf(entry)).split("\n").length);
      writeFileSync(path, text);
      const refused = await load({ TILL_PLANS_FILE: path, TILL_PORT: "x" }).catch(
        (error: unknown) => error,
      );
      if (!(refused instanceof ConfigError)) throw new Error("it was not refused");
      expect(refused.exitCode).to.equal(78);
      expect(refused.problems.map(({ name }) => name)).to.deep.equal([
        "TILL_PORT",
        `plans.growth.price in ${path}:${lineOf("price: ")}`,
        `plans.growth.trialDays in ${path}:${lineOf("trialDays: ")}`,
      ]);
      const missing = await load({ TILL_PLANS_FILE: "none.yaml" }).catch((error: unknown) => error);
      expect((missing as ConfigError).problems.map(({ name }) => name)).to.deep.equal([
        "TILL_PLANS_FILE",
      ]);
    });
  });

  it("cannot multiply itself by aliases", () => {
    const rows = Array.from("bcd", (name, depth) => {
      const before = `*${"abc".charAt(depth)}`;
      return `${name}: &${name} [${Array<string>(9).fill(before).join(",")}]\n`;
    });
    expect(problems(`a: &a [1,2,3,4,5,6,7,8,9]\n${rows.join("")}`)).to.deep.equal([
      "line 1: uses too many YAML aliases",
    ]);
  });

  it("cannot end the process by entries that are nested without limit", () => {
    const nested: Readonly<Record<string, (levels: number) => string>> = {
      brackets: (levels) => "[".repeat(levels) + "]".repeat(levels),
      "open brackets": (levels) => "[".repeat(levels),
      braces: (levels) => "{ a: ".repeat(levels) + "x" + "}".repeat(levels),
      dashes: (levels) => `${"- ".repeat(levels)}x`,
      "complex keys": (levels) => `${"? ".repeat(levels)}x`,
      indentation: (levels) =>
        Array.from({ length: levels }, (_, level) => `${" ".repeat(level)}a:\n`).join(""),
    };
    for (const [what, text] of Object.entries(nested)) {
      for (const levels of [101, 500, 2_500]) {
        const name = `${String(levels)} ${what}`;
        expect(problems(text(levels)), name).to.deep.equal([
          "line 1: is nested more than 100 levels deep",
        ]);
      }
      expect(problems(text(20)).join(), `20 ${what}`).not.to.include("levels deep");
    }
  });
});
