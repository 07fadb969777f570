import type { Network } from "../chain/networks.ts";
import type { ProviderEndpoint } from "../chain/providers/provider.ts";
import type { ProxySettings } from "../outbound/proxy.ts";
import type { RatesPlan } from "../rates/plan.ts";
import type { Mode } from "./setting.ts";
import type { PlanCatalog } from "./plans.ts";
import type { SettingValues } from "./settings.ts";
import type { Origin } from "./sources.ts";

/** An enabled network: its entry in the network table with the changes that the settings make. */
export interface ConfiguredNetwork extends Network {
  /** The providers to use, in order of preference, each with its headers. `providers` holds those of the table. */
  readonly endpoints: readonly ProviderEndpoint[];
}

/** All settings by name, parsed and validated together. */
export interface Config extends Omit<
  SettingValues,
  "configFile" | "networks" | "networksFile" | "plansFile" | "rates" | "ratesFile"
> {
  readonly mode: Mode;
  /** From HTTPS_PROXY, HTTP_PROXY and NO_PROXY, which other programs use too. */
  readonly proxy: ProxySettings;
  /** The settings file that was read; null: none was found. */
  readonly configFile: string | null;
  readonly networksFile: string;
  readonly plansFile: string;
  readonly ratesFile: string;
  /** The enabled networks, in the order in which the setting names them. */
  readonly networks: readonly ConfiguredNetwork[];
  /**
   * The whole network table with the settings of each: a network that is disabled now may have been enabled before, and
   * records still refer to it.
   */
  readonly knownNetworks: readonly ConfiguredNetwork[];
  /** The plan from the rates file; without its sources if they are switched off. */
  readonly rates: RatesPlan;
  /** The plans of the plans file. */
  readonly plans: PlanCatalog;
}

/** A setting as `config show` prints it. */
export interface ReportedSetting {
  /** The environment variable: `TILL_PORT`. */
  readonly name: string;
  /** The key in till.yaml: `port`, `tron.rpcUrls`; null if the file cannot set it. */
  readonly key: string | null;
  /** The value as text, with secrets masked; null: not set. */
  readonly value: string | null;
  readonly origin: Origin;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly settings: readonly ReportedSetting[];
}

export interface ConfigProblem {
  /** The thing to correct: `--port`, `TILL_PORT`, or an entry of a file. */
  readonly name: string;
  /** Continues the name: `must be a whole number from 0 to 65535, not "x"`. */
  readonly message: string;
}

/** Invalid settings, all reported at once. The message contains no secrets. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** The exit code: EX_CONFIG of sysexits. */
  readonly exitCode = 78;
  readonly problems: readonly ConfigProblem[];
  /** The settings that could be read. */
  readonly settings: readonly ReportedSetting[];

  constructor(problems: readonly ConfigProblem[], settings: readonly ReportedSetting[]) {
    const title = problems.length === 1 ? "A setting is invalid" : "Some settings are invalid";
    const lines = problems.map(({ name, message }) => `  ${name} ${message}`);
    super(`${title}:\n${lines.join("\n")}`);
    this.problems = problems;
    this.settings = settings;
  }
}
