// The tables that the build parses once, so that commands which only read need not.
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { unpackNetworks } from "../../../src/platform/chain/kept-networks.ts";
import { parseNetworks } from "../../../src/platform/chain/network-table.ts";
import { keyOfTable, readKept } from "../../../src/platform/config/files/kept-tables.ts";
import { keepShippedTables } from "../../../src/platform/config/files/load-tables.ts";
import type { ParsedFile } from "../../../src/platform/config/files/parse-yaml.ts";
import { parsePlans } from "../../../src/platform/config/plans.ts";
import { parseRates } from "../../../src/platform/rates/plan.ts";

const textOf = (name: string) =>
  readFile(new URL(`../../../config/${name}`, import.meta.url), "utf8");

function valueOf<T>(parsed: ParsedFile<T>): T {
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.value;
}

describe("the tables that the build keeps", () => {
  it("are what the parsers make of the shipped files, and stand for no other text", async () => {
    const kept = readKept(await keepShippedTables());
    const texts = {
      networks: await textOf("networks.yaml"),
      plans: await textOf("plans.yaml"),
      rates: await textOf("rates.yaml"),
      demo: await textOf("rates.demo.yaml"),
    };
    const networks = valueOf(parseNetworks(texts.networks));
    const symbols = new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
    const context = [...symbols].sort().join(" ");
    expect(kept).to.have.property("size", 4);
    const found = kept.get(keyOfTable("networks", texts.networks));
    expect(unpackNetworks(found)).to.deep.equal(networks);
    expect(kept.get(keyOfTable("plans", texts.plans))).to.deep.equal(
      valueOf(parsePlans(texts.plans)),
    );
    for (const text of [texts.rates, texts.demo]) {
      expect(kept.get(keyOfTable("rates", text, context))).to.deep.equal(
        valueOf(parseRates(text, symbols)),
      );
    }
    // A changed byte, another kind and another context have other keys.
    const others = [
      keyOfTable("plans", `${texts.plans} `),
      keyOfTable("rates", texts.plans),
      keyOfTable("rates", texts.rates, `${context} X`),
    ];
    expect(others.map((key) => kept.has(key))).to.deep.equal([false, false, false]);
  });
});
