import { fileURLToPath } from "node:url";
import type { Network } from "../../chain/networks.ts";
import type { RatesPlan } from "../../rates/plan.ts";
import type { Config } from "../config.ts";
import type { PlanCatalog } from "../plans.ts";
import type { Mode } from "../setting.ts";
import { settings, type SettingValues } from "../settings.ts";
import { nameOf, type Sources } from "../sources.ts";
import type { Reading } from "./config-report.ts";
import { loadTable } from "./load-table.ts";

/** The files of the tables: those that settings name, or those that are shipped with the program. */
export type TableFiles = Pick<Config, "networksFile" | "plansFile" | "ratesFile">;

export function tableFiles(values: SettingValues, mode: Mode): TableFiles {
  return {
    networksFile: values.networksFile ?? shipped("networks.yaml"),
    plansFile: values.plansFile ?? shipped("plans.yaml"),
    ratesFile: values.ratesFile ?? shipped(mode === "demo" ? "rates.demo.yaml" : "rates.yaml"),
  };
}

/** Returns the path of a file that is shipped with the program; dist/ is as deep as src/. */
const shipped = (name: string): string =>
  fileURLToPath(new URL(`../../../../config/${name}`, import.meta.url));

/** Loads the network table; null if the file is invalid. */
export function loadNetworkTable(
  { networksFile }: TableFiles,
  reading: Reading,
): Promise<readonly Network[] | null> {
  return loadTable(
    {
      path: networksFile,
      parse: async (text) => (await import("../../chain/network-table.ts")).parseNetworks(text),
    },
    reading,
  );
}

/** Loads the plans; null if the file is invalid. */
export function loadPlans(
  { plansFile }: TableFiles,
  values: SettingValues,
  sources: Sources,
  reading: Reading,
): Promise<PlanCatalog | null> {
  const name = values.plansFile === null ? plansFile : nameOf(settings.plansFile, sources);
  return loadTable(
    {
      path: plansFile,
      name,
      parse: async (text) => (await import("../plans.ts")).parsePlans(text),
    },
    reading,
  );
}

/** Loads the rates, without their sources if these are switched off; null if the file is invalid. */
export async function loadRates(
  { ratesFile: path }: TableFiles,
  table: readonly Network[],
  sources: "on" | "off",
  reading: Reading,
): Promise<RatesPlan | null> {
  const symbols = new Set(table.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  const { parseRates, withoutSources } = await import("../../rates/plan.ts");
  const parse = (text: string) => Promise.resolve(parseRates(text, symbols));
  const plan = await loadTable({ path, parse }, reading);
  return plan === null || sources === "on" ? plan : withoutSources(plan);
}
