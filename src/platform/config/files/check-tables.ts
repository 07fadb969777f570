import { networkKinds } from "../../chain/kinds.ts";
import { parseNetworks } from "../../chain/network-table.ts";
import type { Network } from "../../chain/networks.ts";
import { parseRates, type RatesPlan } from "../../rates/plan.ts";
import { parsePlans, type PlanCatalog } from "../plans.ts";
import { builtName } from "./built-tables.ts";
import type { ParsedFile } from "./parse-yaml.ts";

/** The tables, which are files of config/ unless settings name others. */
export interface Tables {
  readonly networks: readonly Network[];
  readonly plans: PlanCatalog;
  readonly rates: RatesPlan;
}

/** The checks of a table's text. Rates may refer to the tokens of the networks besides currencies. */
export const tableChecks: {
  readonly [Name in keyof Tables]: (
    text: string,
    networks: readonly Network[],
  ) => ParsedFile<Tables[Name]>;
} = {
  networks: parseNetworks,
  plans: parsePlans,
  rates(text, networks) {
    const symbols = networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol));
    return parseRates(text, new Set(symbols));
  },
};

/** Returns the checked tables of config/ as JSON, by the names under which programs find them, for the build. */
export function builtTables(textOf: (file: string) => string): ReadonlyMap<string, string> {
  const built = new Map<string, string>();
  function add<Name extends keyof Tables>(name: Name, file: string, networks: Tables["networks"]) {
    const text = textOf(file);
    const checked = tableChecks[name](text, networks);
    if (!checked.ok) throw new Error(`${file}: ${JSON.stringify(checked.problems)}`);
    built.set(builtName(name, text, networks), JSON.stringify(checked.value, jsonOf));
    return checked.value;
  }
  const networks = add("networks", "networks.yaml", []);
  add("plans", "plans.yaml", []);
  for (const file of ["rates.yaml", "rates.demo.yaml"]) add("rates", file, networks);
  return built;
}

/** JSON has no bigints, and no functions, which the kinds of networks consist of. */
function jsonOf(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return { bigint: String(value) };
  const kind = Object.keys(networkKinds).find((name) => networkKinds[name] === value);
  return kind === undefined ? value : { networkKind: kind };
}
