import type { Network } from "../chain/networks.ts";
import type { RatesPlan } from "../rates/plan.ts";
import type { Provider } from "./network-settings.ts";
import type { Mode } from "./setting.ts";
import type { PlanCatalog } from "./plans.ts";
import type { SettingValues } from "./settings.ts";
import type { Origin } from "./sources.ts";

/** A network that is on, with what the settings change of the table. */
export interface ConfiguredNetwork extends Network {
  /** The providers to use, in order of preference, each with its headers; those of the table are in `providers`. */
  readonly endpoints: readonly Provider[];
}

/** Every setting under its name, read and checked together. */
export interface Config extends Omit<
  SettingValues,
  "configFile" | "networks" | "networksFile" | "plansFile" | "rates" | "ratesFile"
> {
  readonly mode: Mode;
  /** The file of settings that was read; null: there was none. */
  readonly configFile: string | null;
  /** The networks that are on, in the order in which they were named. */
  readonly networks: readonly ConfiguredNetwork[];
  /** All of the network table: what is off now may have been on, and its records still name it. */
  readonly knownNetworks: readonly Network[];
  readonly networksFile: string;
  readonly plansFile: string;
  readonly ratesFile: string;
  /** The plan of the file of rates, without its sources where they are not to be asked. */
  readonly rates: RatesPlan;
  /** What the file of plans says. */
  readonly plans: PlanCatalog;
}

/** A setting as `config show` prints it. */
export interface ReportedSetting {
  /** The variable: `TILL_PORT`. */
  readonly name: string;
  /** The key in till.yaml: `port`, `tron.rpcUrls`; null where the file cannot give it. */
  readonly key: string | null;
  /** As it would be written, secrets masked; null: not set. */
  readonly value: string | null;
  readonly origin: Origin;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly settings: readonly ReportedSetting[];
}

export interface ConfigProblem {
  /** What to correct: `--port`, `TILL_PORT`, a file and its entry. */
  readonly name: string;
  /** Continues the name: `must be a whole number from 0 to 65535, not "x"`. */
  readonly message: string;
}

/** Wrong settings, all of them at once. Nothing in it is secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** EX_CONFIG of sysexits: what the program ends with. */
  readonly exitCode = 78;
  readonly problems: readonly ConfigProblem[];
  /** What could be read nevertheless. */
  readonly settings: readonly ReportedSetting[];

  constructor(problems: readonly ConfigProblem[], settings: readonly ReportedSetting[]) {
    const title = problems.length === 1 ? "A setting is wrong" : "Some settings are wrong";
    const lines = problems.map(({ name, message }) => `  ${name} ${message}`);
    super(`${title}:\n${lines.join("\n")}`);
    this.problems = problems;
    this.settings = settings;
  }
}
