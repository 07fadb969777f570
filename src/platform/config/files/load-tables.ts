import { fileURLToPath } from "node:url";
import { parseNetworks } from "../../chain/network-table.ts";
import type { Network } from "../../chain/networks.ts";
import { parseRates, type RatesPlan } from "../../rates/plan.ts";
import { withoutSources } from "../../rates/without-sources.ts";
import type { Config } from "../config.ts";
import { parsePlans, type PlanCatalog } from "../plans.ts";
import type { Mode } from "../setting.ts";
import { settings, type SettingValues } from "../settings.ts";
import { nameOf, type Sources } from "../sources.ts";
import type { Reading } from "./config-report.ts";
import { loadTable, type TableFile } from "./load-table.ts";
import { packageFile } from "../../files.ts";

/** The files of the tables: those that settings name, or those that are shipped with the program. */
export type TableFiles = Pick<Config, "networksFile" | "plansFile" | "ratesFile">;

export function tableFiles(values: SettingValues, mode: Mode): TableFiles {
  return {
    networksFile: values.networksFile ?? shipped("networks.yaml"),
    plansFile: values.plansFile ?? shipped("plans.yaml"),
    ratesFile: values.ratesFile ?? shipped(mode === "demo" ? "rates.demo.yaml" : "rates.yaml"),
  };
}

/** Returns the path of a file that is shipped with the program. */
const shipped = (name: string): string => fileURLToPath(packageFile(`config/${name}`));

/** Loads the network table; null if the file is invalid. */
export function loadNetworkTable(
  { networksFile }: TableFiles,
  reading: Reading,
): Promise<readonly Network[] | null> {
  return loadTable(networkTable(networksFile), reading);
}

/** Loads the plans; null if the file is invalid. */
export function loadPlans(
  { plansFile }: TableFiles,
  values: SettingValues,
  sources: Sources,
  reading: Reading,
): Promise<PlanCatalog | null> {
  const name = values.plansFile === null ? plansFile : nameOf(settings.plansFile, sources);
  return loadTable({ ...planTable(plansFile), name }, reading);
}

/** Loads the rates, without their sources if these are switched off; null if the file is invalid. */
export async function loadRates(
  { ratesFile }: TableFiles,
  table: readonly Network[],
  sources: "on" | "off",
  reading: Reading,
): Promise<RatesPlan | null> {
  const plan = await loadTable(rateTable(ratesFile, table), reading);
  return plan === null || sources === "on" ? plan : withoutSources(plan);
}

function networkTable(path: string): TableFile<readonly Network[]> {
  return {
    path,
    parse: parseNetworks,
  };
}

function planTable(path: string): TableFile<PlanCatalog> {
  return {
    path,
    parse: parsePlans,
  };
}

/** @param table the networks, to whose tokens rates may refer besides currencies */
function rateTable(path: string, table: readonly Network[]): TableFile<RatesPlan> {
  const symbols = new Set(table.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  return {
    path,
    parse: (content) => parseRates(content, symbols),
  };
}
