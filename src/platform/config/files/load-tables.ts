import { fileURLToPath } from "node:url";
import type { Network } from "../../chain/networks.ts";
import { packageFile, programFile } from "../../files.ts";
import type { RatesPlan } from "../../rates/plan.ts";
import { withoutSources } from "../../rates/without-sources.ts";
import type { Config } from "../config.ts";
import type { PlanCatalog } from "../plans.ts";
import type { Mode } from "../setting.ts";
import { settings, type SettingValues } from "../settings.ts";
import { nameOf, type Sources } from "../sources.ts";
import { builtName, readBuilt } from "./built-tables.ts";
import type { Tables } from "./check-tables.ts";
import type { Reading } from "./config-report.ts";
import { readText, readTextIfPresent } from "./files.ts";

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
  return loadTable("networks", networksFile, reading);
}

/** Loads the plans; null if the file is invalid. */
export function loadPlans(
  { plansFile }: TableFiles,
  values: SettingValues,
  sources: Sources,
  reading: Reading,
): Promise<PlanCatalog | null> {
  const setting = values.plansFile === null ? plansFile : nameOf(settings.plansFile, sources);
  return loadTable("plans", plansFile, reading, { setting });
}

/** Loads the rates, without their sources if these are switched off; null if the file is invalid. */
export async function loadRates(
  { ratesFile }: TableFiles,
  table: readonly Network[],
  sources: "on" | "off",
  reading: Reading,
): Promise<RatesPlan | null> {
  const plan = await loadTable("rates", ratesFile, reading, { networks: table });
  return plan === null || sources === "on" ? plan : withoutSources(plan);
}

/**
 * Loads a table; null if the file is invalid. The check takes longer than all other work of most commands, so the build
 * keeps the result for the files of config/.
 * @param given the setting to report if the file cannot be read, by default the path; and the networks, for rates
 */
async function loadTable<Name extends keyof Tables>(
  name: Name,
  path: string,
  reading: Reading,
  given: { readonly setting?: string; readonly networks?: readonly Network[] } = {},
): Promise<Tables[Name] | null> {
  const { setting = path, networks = [] } = given;
  const text = await reading.attempt(setting, () => readText(path));
  if (text === null) return null;
  const file = programFile(`config/${builtName(name, text, networks)}`);
  const built = await readTextIfPresent(fileURLToPath(file));
  if (built !== null) return readBuilt(built) as Tables[Name];
  const { tableChecks } = await import("./check-tables.ts");
  const checked = tableChecks[name](text, networks);
  if (checked.ok) return checked.value;
  for (const { path: entry, line, message } of checked.problems) {
    const at = `${path}:${String(line)}`;
    reading.problems.push({ name: entry === "" ? at : `${entry} in ${at}`, message });
  }
  return null;
}
