import { readFileSync } from "node:fs";
import { expect } from "chai";
import { parseNetworks } from "../../../src/platform/chain/network-table.ts";
import { builtName, readBuilt } from "../../../src/platform/config/files/built-tables.ts";
import { builtTables, tableChecks } from "../../../src/platform/config/files/check-tables.ts";

const textOf = (file: string) =>
  readFileSync(new URL(`../../../config/${file}`, import.meta.url), "utf8");

describe("the tables that the build has checked", () => {
  const parsed = parseNetworks(textOf("networks.yaml"));
  const networks = parsed.ok ? parsed.value : [];

  it("are those of config/, with the kinds of networks and all amounts", () => {
    const built = builtTables(textOf);
    for (const [name, file, given] of [
      ["networks", "networks.yaml", []],
      ["plans", "plans.yaml", []],
      ["rates", "rates.yaml", networks],
      ["rates", "rates.demo.yaml", networks],
    ] as const) {
      const text = textOf(file);
      const value = readBuilt(built.get(builtName(name, text, given)) ?? "null");
      expect({ ok: true, value }, file).to.deep.equal(tableChecks[name](text, given));
    }
    expect(built.size).to.equal(4);
  });

  it("are not used for another text or other tokens", () => {
    const text = textOf("rates.yaml");
    const names = [
      builtName("rates", text, networks),
      builtName("rates", text, networks.slice(1)),
      builtName("rates", `${text}\n`, networks),
      builtName("plans", text, networks),
    ];
    expect(new Set(names).size).to.equal(names.length);
  });

  it("are not built from a faulty file", () => {
    expect(() =>
      builtTables((file) => textOf(file).replace("kind: tron", "kind: heliograph")),
    ).to.throw("must be one of evm, tron, sandbox");
  });
});
