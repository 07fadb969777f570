import type { Network } from "../../chain/networks.ts";
import type { ConfigProblem } from "../config.ts";
import { suggestion } from "./did-you-mean.ts";
import { networkSettings, networkVariable, settingsOf } from "../network-settings.ts";
import type { Settings } from "../setting.ts";
import type { SettingsFile } from "../sources.ts";
import { isMapping } from "../sources.ts";

/** Reports variables that begin with TILL_ and belong to no setting; a misspelled one would silently have no effect. */
export function findUnknownVariables(
  declared: Settings,
  env: Readonly<Record<string, string | undefined>>,
  networks: readonly Network[],
): ConfigProblem[] {
  const known = Object.values(declared)
    .map(({ env: name }) => name)
    .concat(
      networks.flatMap((network) => settingsOf(network).map((s) => networkVariable(network.id, s))),
    );
  return Object.keys(env)
    .filter((name) => name.startsWith("TILL_") && !known.includes(name))
    .map((name) => ({ name, message: `is not a setting${hintFor(name, known)}` }));
}

function hintFor(name: string, known: readonly string[]): string {
  // Kubernetes sets variables for every Service in each container, and TILL_PORT is one of them.
  if (/^TILL_(SERVICE_(HOST|PORT)|PORT_[0-9]+_(TCP|UDP))/.test(name)) {
    return "; Kubernetes sets it for a Service named till: set enableServiceLinks to false";
  }
  return suggestion(name, known);
}

/** Reports entries of the file that belong to no setting. */
export function findUnknownEntries(
  declared: Settings,
  file: SettingsFile | null,
  networks: readonly Network[],
): ConfigProblem[] {
  if (file === null) return [];
  const names = Object.values(declared)
    .filter(({ inFile }) => inFile)
    .map(({ name }) => name);
  const ids = networks.map(({ id }) => id);
  return Object.entries(file.entries).flatMap(([key, value]): ConfigProblem[] => {
    if (names.includes(key)) return [];
    const network = networks.find(({ id }) => id === key);
    if (network !== undefined) return findUnknownOfNetwork(network, value, file.path);
    const message = `is not a setting${suggestion(key, [...names, ...ids])}`;
    return [{ name: `${key} in ${file.path}`, message }];
  });
}

function findUnknownOfNetwork(network: Network, entry: unknown, path: string): ConfigProblem[] {
  if (entry === null) return [];
  const names = settingsOf(network).map(({ name }) => name);
  if (!isMapping(entry)) {
    const message = `must contain settings of the network: ${names.join(", ")}`;
    return [{ name: `${network.id} in ${path}`, message }];
  }
  return Object.keys(entry)
    .filter((key) => !names.includes(key))
    .map((key) => ({
      name: `${network.id}.${key} in ${path}`,
      message: `is not a setting of a network${suggestion(key, names)}`,
    }));
}

/** True if a variable may belong to a network that is unknown because the table could not be read. */
export function isNetworkVariable(name: string): boolean {
  return Object.values(networkSettings).some(({ envSuffix }) => name.endsWith(`_${envSuffix}`));
}
