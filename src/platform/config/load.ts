import { fileURLToPath } from "node:url";
import { packageFile, programFile } from "../files.ts";
import { readProxySettings, type ProxySettings } from "../outbound/proxy.ts";
import { join } from "node:path";
import type { Network } from "../chain/networks.ts";
import { withoutSources, type RatesPlan } from "../rates/plan.ts";
import {
  ConfigError,
  moreProblems,
  problemsMax,
  problemsOfFile,
  type Config,
  type ConfigProblem,
  type ConfiguredNetwork,
  type LoadedConfig,
} from "./config.ts";
import { builtName, readBuilt } from "./files/built-tables.ts";
import type { Tables } from "./files/check-tables.ts";
import { suggestion } from "./files/did-you-mean.ts";
import {
  findFolderFault,
  findWriters,
  parseSettingsFile,
  readBytes,
  readText,
  readTextIfPresent,
} from "./files/files.ts";
import type { PlanCatalog } from "./plans.ts";
import {
  findRawSettings,
  fromEnvironment,
  fromFile,
  isMapping,
  makeSettingsReader,
  nameOf,
  type RawSetting,
  type SettingsReader,
  type SettingsFile,
  type Sources,
} from "./sources.ts";
import {
  joinProviders,
  networkSettings,
  networkVariable,
  settingsOf,
  type NetworkSetting,
  type ProviderHeaders,
} from "./network-settings.ts";
import {
  InvalidValue,
  readValue,
  showValue,
  type Mode,
  type Setting,
  type Settings,
  type ValuesOf,
} from "./setting.ts";
import { isLongEnough, secretBytesMin, settings, type SettingValues } from "./settings.ts";

export interface LoadOptions {
  readonly mode: Mode;
  /** The parsed command-line arguments by property; properties that belong to no setting are ignored. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths in flags and variables start from. */
  readonly cwd?: string;
  /** Returns true if a folder can be written to. */
  readonly isWritable?: (path: string) => Promise<boolean>;
}

/**
 * Reads all settings; `declared` are those that exist once.
 * @throws ConfigError that lists every problem at once
 */
export async function loadConfig(
  options: LoadOptions,
  declared: typeof settings = settings,
): Promise<LoadedConfig> {
  const { mode } = options;
  const { sources, reader, values } = await readSources(declared, options);
  const files = tableFiles(values, mode);
  const table = await loadNetworkTable(files, reader);
  const networks = await configureNetworks(values, table, sources, reader);
  const rates = table === null ? null : await loadRates(files, table, values.rates, reader);
  reader.problems.push(...findUnknown(declared, sources, table));
  const secret = await loadSecret(values, sources, reader);
  const plans = await loadPlans(files, values, sources, reader);
  const proxy = readProxy(sources, reader);
  if (mode !== "cli" && values.databaseUrl === null) {
    const fault = await findFolderFault(values.dataDir, options.isWritable);
    if (fault !== null) {
      reader.problems.push({
        name: nameOf(settings.dataDir, sources),
        message: `cannot be used: ${fault}`,
      });
    }
  }

  if (rates === null || plans === null || reader.problems.length > 0)
    throw new ConfigError(reader.problems, reader.settings);
  const configFile = sources.file?.path ?? null;
  const config: Config = {
    ...values,
    mode,
    configFile,
    proxy,
    secret,
    ...networks,
    ...files,
    rates,
    plans,
  };
  return { config, settings: reader.settings };
}

/** Finds the sources of settings, and reads the declared ones. */
async function readSources<D extends Settings>(
  declared: D,
  options: Omit<LoadOptions, "isWritable">,
): Promise<{
  readonly sources: Sources;
  readonly reader: SettingsReader;
  readonly values: ValuesOf<D>;
}> {
  const { mode, flags = {}, env = process.env, cwd = process.cwd() } = options;
  const reader = makeSettingsReader();
  const withoutFile: Sources = { flags, env, cwd, isDemo: mode === "demo", file: null };
  const sources = { ...withoutFile, file: await loadFile(withoutFile, reader) };
  return { sources, reader, values: readSettings(declared, sources, reader) };
}

/**
 * Reads only the location of the store, for commands that must answer at once. Other invalid settings are ignored.
 * @throws ConfigError
 */
export async function findStore(
  options: Omit<LoadOptions, "isWritable">,
): Promise<Pick<Config, "dataDir" | "databaseUrl">> {
  const { dataDir, databaseUrl } = settings;
  const { reader, values } = await readSources({ dataDir, databaseUrl }, options);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems, reader.settings);
  return values;
}

function readProxy(sources: Sources, reader: SettingsReader): ProxySettings {
  return readProxySettings(sources.env, (name, message) => {
    reader.problems.push({ name, message });
  });
}

/** Loads the settings file: the named one, or else the till.yaml of the data folder if it exists. */
async function loadFile(sources: Sources, reader: SettingsReader): Promise<SettingsFile | null> {
  // Problems with these two settings are reported later, with all others.
  const named = quietly(settings.configFile, sources);
  const dataDir = quietly(settings.dataDir, sources);
  const path = named ?? (dataDir === null ? null : join(dataDir, "till.yaml"));
  if (path === null) return null;
  const name = named === null ? path : nameOf(settings.configFile, sources);
  return await reader.attempt(name, async () => {
    const text = named === null ? await readTextIfPresent(path) : await readText(path);
    if (text === null) return null;
    const writers = await findWriters(path);
    if (writers !== null) throw new InvalidValue(writers);
    const file = await parseSettingsFile(path, text);
    if (named !== null || !Object.hasOwn(file.entries, "dataDir")) return file;
    const message = "cannot be set in a file that lies in the data folder";
    reader.problems.push({ name: `dataDir in ${path}`, message });
    return { ...file, entries: { ...file.entries, dataDir: null } };
  });
}

function quietly<T>(setting: Setting<T>, sources: Sources): NonNullable<T> | null {
  const given = findRawSettings(setting, sources);
  try {
    return given === null ? null : readValue(setting.schema, given.value, given.folder);
  } catch {
    return null;
  }
}

/**
 * Reads the declared settings. An invalid one gets its default here and its problem is recorded, so nothing starts with
 * it.
 */
function readSettings<D extends Settings>(
  declared: D,
  sources: Sources,
  reader: SettingsReader,
): ValuesOf<D> {
  const values = Object.values(declared).map((setting) => {
    const given = findRawSettings(setting, sources);
    const key = setting.inFile ? setting.name : null;
    const value =
      reader.read(setting.env, key, setting.schema, given) ?? fallback(setting, sources);
    return [setting.name, value];
  });
  return Object.fromEntries(values) as ValuesOf<D>;
}

function fallback(setting: Setting, { cwd }: Sources): unknown {
  return setting.default === null ? null : readValue(setting.schema, setting.default, cwd);
}

function findUnknown(
  declared: Settings,
  sources: Sources,
  table: readonly Network[] | null,
): ConfigProblem[] {
  const { env, file } = sources;
  const variables = findUnknownVariables(declared, env, table ?? []);
  if (table !== null) return [...variables, ...findUnknownEntries(declared, file, table)];
  // Without the table the networks are unknown, so variables that may belong to one are accepted: the invalid table is
  // reported already.
  return variables.filter(({ name }) => !isNetworkVariable(name));
}

/** Loads the given secret; null: the one in the data folder is used. */
async function loadSecret(
  values: SettingValues,
  sources: Sources,
  reader: SettingsReader,
): Promise<string | null> {
  const { secret, secretFile, databaseUrl } = values;
  const name = nameOf(settings.secretFile, sources);
  if (secretFile === null) {
    const isGiven = findRawSettings(settings.secret, sources) !== null;
    if (databaseUrl !== null && !isGiven) {
      const message =
        "or TILL_SECRET_FILE must be set for a store on PostgreSQL, because its processes share it: " +
        "openssl rand -base64 32 generates one";
      reader.problems.push({ name: settings.secret.env, message });
    }
    return secret;
  }
  if (findRawSettings(settings.secret, sources) !== null) {
    const message = `and ${nameOf(settings.secret, sources)} are both set: keep one of them`;
    reader.problems.push({ name, message });
    return null;
  }
  return await reader.attempt(name, async () => {
    // A secret may consist of any bytes, which need not be text.
    const text = (await readBytes(secretFile)).toString("utf8").replace(/\r?\n$/, "");
    if (isLongEnough(text)) return text;
    throw new InvalidValue(
      `names a file that is too short: a secret has at least ${String(secretBytesMin)} bytes`,
    );
  });
}

/** Returns the enabled networks, and all of the table with their settings, which are validated too. */
async function configureNetworks(
  values: SettingValues,
  table: readonly Network[] | null,
  sources: Sources,
  reader: SettingsReader,
): Promise<Pick<Config, "networks" | "knownNetworks">> {
  if (table === null) return { networks: [], knownNetworks: [] };
  const configured = new Map<string, ConfiguredNetwork>();
  for (const network of table) {
    const isOn = values.networks.includes(network.id);
    const one = await configureNetwork(network, isOn, values, sources, reader);
    configured.set(network.id, one);
  }
  const name = nameOf(settings.networks, sources);
  const ids = [...configured.keys()];
  const unknown = values.networks.filter((id) => !configured.has(id));
  for (const id of unknown) {
    const message = `names ${id}, which is not in the network table${suggestion(id, ids)}`;
    reader.problems.push({ name, message });
  }
  const networks = values.networks.flatMap((id) => configured.get(id) ?? []);
  checkMix(networks, values, sources, reader);
  return { networks, knownNetworks: [...configured.values()] };
}

function checkMix(
  networks: readonly ConfiguredNetwork[],
  values: SettingValues,
  sources: Sources,
  reader: SettingsReader,
): void {
  const name = nameOf(settings.networks, sources);
  const isSandboxOn = networks.some(({ kind }) => kind.isSimulated);
  if (sources.isDemo && !isSandboxOn) {
    reader.problems.push({
      name,
      message: "must include sandbox: the demo pays its invoices there",
    });
  }
  if (isSandboxOn && networks.some(({ isTest }) => !isTest) && !values.sandboxMixed) {
    const message =
      "enables the sandbox, where money is free, together with a real network: remove one, or set TILL_SANDBOX_MIXED=1";
    reader.problems.push({ name, message });
  }
}

async function configureNetwork(
  network: Network,
  isOn: boolean,
  values: SettingValues,
  sources: Sources,
  reader: SettingsReader,
): Promise<ConfiguredNetwork> {
  const allowed = settingsOf(network);
  function read<T>(setting: NetworkSetting<T>, byDefault: string | null): T | null {
    if (!allowed.some(({ name }) => name === setting.name)) return null;
    const name = networkVariable(network.id, setting);
    const key = `${network.id}.${setting.name}`;
    const given = findNetworkGiven(network.id, setting, sources);
    if (given !== null) return reader.read(name, key, setting.schema, given);
    if (isOn) {
      if (byDefault === null) reader.read(name, key, setting.schema, null);
      else reader.report(name, key, byDefault);
    }
    return null;
  }

  const table = network.providers.map(({ url }) => url);
  const { rpcUrls, rpcHeaders, confirmations, pollMs } = networkSettings;
  const problemsBefore = reader.problems.length;
  const urls = read(rpcUrls, showValue(rpcUrls.schema, table));
  const headers: ProviderHeaders = read(rpcHeaders, null) ?? { all: {}, byProvider: {} };
  const given = findNetworkGiven(network.id, rpcHeaders, sources);
  // With invalid URLs, valid headers would look invalid.
  const areRight = reader.problems.length === problemsBefore;
  const endpoints = await reader.attempt(given?.origin.name ?? network.id, () =>
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

/** Reports variables that begin with TILL_ and belong to no setting; a misspelled one would silently have no effect. */
function findUnknownVariables(
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
function findUnknownEntries(
  declared: Settings,
  file: SettingsFile | null,
  networks: readonly Network[],
): ConfigProblem[] {
  if (file === null) return [];
  const names = Object.values(declared)
    .filter(({ inFile }) => inFile)
    .map(({ name }) => name);
  const known = names.concat(networks.map(({ id }) => id));
  const { path } = file;
  const unknown = Object.entries(file.entries).flatMap(([key, value]): (() => ConfigProblem)[] => {
    if (names.includes(key)) return [];
    const network = networks.find(({ id }) => id === key);
    if (network !== undefined) return findUnknownOfNetwork(network, value, path);
    return [
      () => ({
        name: `${key} in ${path}`,
        message: `is not a setting${suggestion(key, known)}`,
      }),
    ];
  });
  const more = moreProblems(unknown.length).map((message) => ({ name: path, message }));
  return [...unknown.slice(0, problemsMax).map((problemOf) => problemOf()), ...more];
}

function findUnknownOfNetwork(
  network: Network,
  entry: unknown,
  path: string,
): (() => ConfigProblem)[] {
  if (entry === null) return [];
  const names = settingsOf(network).map(({ name }) => name);
  if (!isMapping(entry)) {
    const message = `must contain settings of the network: ${names.join(", ")}`;
    return [() => ({ name: `${network.id} in ${path}`, message })];
  }
  return Object.keys(entry)
    .filter((key) => !names.includes(key))
    .map((key) => () => ({
      name: `${network.id}.${key} in ${path}`,
      message: `is not a setting of a network${suggestion(key, names)}`,
    }));
}

/** True if a variable may belong to a network that is unknown because the table could not be read. */
function isNetworkVariable(name: string): boolean {
  return Object.values(networkSettings).some(({ envSuffix }) => name.endsWith(`_${envSuffix}`));
}

/** The files of the tables: those that settings name, or those that are shipped with the program. */
type TableFiles = Pick<Config, "networksFile" | "plansFile" | "ratesFile">;

function tableFiles(values: SettingValues, mode: Mode): TableFiles {
  return {
    networksFile: values.networksFile ?? shipped("networks.yaml"),
    plansFile: values.plansFile ?? shipped("plans.yaml"),
    ratesFile: values.ratesFile ?? shipped(mode === "demo" ? "rates.demo.yaml" : "rates.yaml"),
  };
}

/** Returns the path of a file that is shipped with the program. */
const shipped = (name: string): string => fileURLToPath(packageFile(`config/${name}`));

/** Loads the network table; null if the file is invalid. */
function loadNetworkTable(
  { networksFile }: TableFiles,
  reader: SettingsReader,
): Promise<readonly Network[] | null> {
  return loadTable("networks", networksFile, reader);
}

/** Loads the plans; null if the file is invalid. */
function loadPlans(
  { plansFile }: TableFiles,
  values: SettingValues,
  sources: Sources,
  reader: SettingsReader,
): Promise<PlanCatalog | null> {
  const setting = values.plansFile === null ? plansFile : nameOf(settings.plansFile, sources);
  return loadTable("plans", plansFile, reader, { setting });
}

/** Loads the rates, without their sources if these are switched off; null if the file is invalid. */
async function loadRates(
  { ratesFile }: TableFiles,
  table: readonly Network[],
  sources: "on" | "off",
  reader: SettingsReader,
): Promise<RatesPlan | null> {
  const plan = await loadTable("rates", ratesFile, reader, { networks: table });
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
  reader: SettingsReader,
  given: { readonly setting?: string; readonly networks?: readonly Network[] } = {},
): Promise<Tables[Name] | null> {
  const { setting = path, networks = [] } = given;
  const text = await reader.attempt(setting, () => readText(path));
  if (text === null) return null;
  const file = programFile(`config/${builtName(name, text, networks)}`);
  const built = await readTextIfPresent(fileURLToPath(file));
  if (built !== null) return readBuilt(built) as Tables[Name];
  const { tableChecks } = await import("./files/check-tables.ts");
  const checked = tableChecks[name](text, networks);
  if (checked.ok) return checked.value;
  reader.problems.push(...problemsOfFile(path, checked.problems));
  return null;
}
