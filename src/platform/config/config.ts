import { defineProblem } from "../../kernel/errors.ts";
import type { Network } from "../chain/networks.ts";
import type { ProviderEndpoint } from "../chain/providers/member.ts";
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

/** A problem in a file: its entry, such as `plans.growth.price` (empty: the whole file), its line, and what to do. */
export interface FileProblem {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Says what is wrong with a file of another encoding. */
export const notUtf8 = "is not UTF-8 text: save it as UTF-8";

/** Maximum number of a file's problems that are listed: a wrong file may have a problem in each of its lines. */
export const problemsMax = 20;

/** Returns what is said of a file's problems beyond those that are listed; nothing if there are none. */
export function moreProblems(count: number): readonly string[] {
  const more = count - problemsMax;
  if (more <= 0) return [];
  return [more === 1 ? "has one more problem" : `has ${String(more)} more problems`];
}

/** Names the problems of a file by its entries and lines. */
export function problemsOfFile(path: string, problems: readonly FileProblem[]): ConfigProblem[] {
  return problems.map(({ path: entry, line, message }) => {
    const at = `${path}:${String(line)}`;
    return { name: entry === "" ? at : `${entry} in ${at}`, message };
  });
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

/** The running server reads networks of another networks file. */
const NetworksUnknown = defineProblem({
  code: "networks_unknown",
  status: 500,
  title: "The running server has networks that this command does not know",
});

/** The enabled networks of the running server, or of this process if none runs. */
export interface EnabledNetworks extends Pick<Config, "networks" | "knownNetworks"> {
  /** The ids of enabled networks that are missing in this process's table. */
  readonly unlisted: readonly string[];
}

/** The networks by their ids. */
export interface Networks {
  /**
   * The enabled networks. `get` of an unlisted one throws NetworksUnknown: the network is enabled, but a command that
   * needs it cannot work with it.
   */
  readonly enabled: ReadonlyMap<string, ConfiguredNetwork>;
  /** The enabled networks and the rest of the table: records may name a network that is disabled now. */
  readonly known: ReadonlyMap<string, Network>;
  /** The ids of the enabled networks, with the unlisted ones. */
  readonly enabledIds: readonly string[];
}

/** Returns the networks; an enabled network's settings take precedence over the table. */
export function networksOf({ networks, knownNetworks, unlisted }: EnabledNetworks): Networks {
  const enabled = networks.map((network) => [network.id, network] as const);
  const table = knownNetworks.map((network): [string, Network] => [network.id, network]);
  return {
    enabled: new ListedNetworks(enabled, unlisted),
    known: new Map([...table, ...enabled]),
    enabledIds: [...networks.map(({ id }) => id), ...unlisted],
  };
}

/** True if every enabled network is known to be a test network, and there is one. */
export function isAllTest({ enabled, enabledIds }: Networks): boolean {
  const known = [...enabled.values()];
  return (
    known.length > 0 && known.length === enabledIds.length && known.every((each) => each.isTest)
  );
}

/** Says which networks a command cannot work with. */
export function unlistedNote(unlisted: readonly string[]): string {
  return `Not in this command's network table: ${unlisted.join(", ")}. Give the command the TILL_NETWORKS_FILE of the server.`;
}

class ListedNetworks extends Map<string, ConfiguredNetwork> {
  readonly #unlisted: readonly string[];

  constructor(
    listed: readonly (readonly [string, ConfiguredNetwork])[],
    unlisted: readonly string[],
  ) {
    super(listed);
    this.#unlisted = unlisted;
  }

  override get(id: string): ConfiguredNetwork | undefined {
    if (this.#unlisted.includes(id)) throw new NetworksUnknown(unlistedNote([id]));
    return super.get(id);
  }
}
