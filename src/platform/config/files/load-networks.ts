import type { Network } from "../../chain/networks.ts";
import type { Config, ConfiguredNetwork } from "../config.ts";
import { suggestion } from "./did-you-mean.ts";
import type { NetworkSetting, ProviderHeaders } from "../network-settings.ts";
import {
  joinProviders,
  networkSettings,
  networkVariable,
  settingsOf,
} from "../network-settings.ts";
import type { Reading } from "./config-report.ts";
import type { SettingValues } from "../settings.ts";
import { settings } from "../settings.ts";
import type { RawSetting, Sources } from "../sources.ts";
import { fromEnvironment, fromFile, nameOf } from "../sources.ts";
import { showValue } from "../value-type.ts";

/** Returns the enabled networks, and all of the table with their settings, which are validated too. */
export async function configureNetworks(
  values: SettingValues,
  table: readonly Network[] | null,
  sources: Sources,
  reading: Reading,
): Promise<Pick<Config, "networks" | "knownNetworks">> {
  if (table === null) return { networks: [], knownNetworks: [] };
  const configured = new Map<string, ConfiguredNetwork>();
  for (const network of table) {
    const isOn = values.networks.includes(network.id);
    const one = await configureNetwork(network, isOn, values, sources, reading);
    configured.set(network.id, one);
  }
  const name = nameOf(settings.networks, sources);
  const ids = [...configured.keys()];
  const unknown = values.networks.filter((id) => !configured.has(id));
  for (const id of unknown) {
    const message = `names ${id}, which is not in the network table${suggestion(id, ids)}`;
    reading.problems.push({ name, message });
  }
  const networks = values.networks.flatMap((id) => configured.get(id) ?? []);
  checkMix(networks, values, sources, reading);
  return { networks, knownNetworks: [...configured.values()] };
}

function checkMix(
  networks: readonly ConfiguredNetwork[],
  values: SettingValues,
  sources: Sources,
  reading: Reading,
): void {
  const name = nameOf(settings.networks, sources);
  const isSandboxOn = networks.some(({ kind }) => kind.isSimulated);
  if (sources.isDemo && !isSandboxOn) {
    reading.problems.push({
      name,
      message: "must include sandbox: the demo pays its invoices there",
    });
  }
  if (isSandboxOn && networks.some(({ isTest }) => !isTest) && !values.sandboxMixed) {
    const message =
      "enables the sandbox, where money is free, together with a real network: remove one, or set TILL_SANDBOX_MIXED=1";
    reading.problems.push({ name, message });
  }
}

async function configureNetwork(
  network: Network,
  isOn: boolean,
  values: SettingValues,
  sources: Sources,
  reading: Reading,
): Promise<ConfiguredNetwork> {
  const allowed = settingsOf(network);
  function read<T>(setting: NetworkSetting<T>, byDefault: string | null): T | null {
    if (!allowed.some(({ name }) => name === setting.name)) return null;
    const name = networkVariable(network.id, setting);
    const key = `${network.id}.${setting.name}`;
    const given = findNetworkGiven(network.id, setting, sources);
    if (given !== null) return reading.read(name, key, setting.schema, given);
    if (isOn) {
      if (byDefault === null) reading.read(name, key, setting.schema, null);
      else reading.report(name, key, byDefault);
    }
    return null;
  }

  const table = network.providers.map(({ url }) => url);
  const { rpcUrls, rpcHeaders, confirmations, pollMs } = networkSettings;
  const problemsBefore = reading.problems.length;
  const urls = read(rpcUrls, showValue(rpcUrls.schema, table));
  const headers: ProviderHeaders = read(rpcHeaders, null) ?? { all: {}, byProvider: {} };
  const given = findNetworkGiven(network.id, rpcHeaders, sources);
  // With invalid URLs, valid headers would look invalid.
  const areRight = reading.problems.length === problemsBefore;
  const endpoints = await reading.attempt(given?.origin.name ?? network.id, () =>
    areRight ? joinProviders(network, urls, headers) : [],
  );
  const { sandboxBlockMs } = values;
  const isTimed = network.kind.isSimulated && sandboxBlockMs > 0;
  return {
    ...network,
    endpoints: endpoints ?? [],
    blockTimeMs: isTimed ? sandboxBlockMs : network.blockTimeMs,
    confirmations: read(confirmations, String(network.confirmations)) ?? network.confirmations,
    pollMs: read(pollMs, String(network.pollMs)) ?? network.pollMs,
  };
}

function findNetworkGiven(
  networkId: string,
  setting: { readonly name: string; readonly envSuffix: string },
  sources: Sources,
): RawSetting | null {
  return (
    fromEnvironment(networkVariable(networkId, setting), sources) ??
    fromFile([networkId, setting.name], sources.file)
  );
}
