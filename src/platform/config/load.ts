import { readProxySettings, type ProxySettings } from "../outbound/proxy.ts";
import { join } from "node:path";
import type { Network } from "../chain/networks.ts";
import { type Config, type ConfigProblem, type LoadedConfig, ConfigError } from "./config.ts";
import {
  findFolderFault,
  findWriters,
  parseSettingsFile,
  readText,
  readTextIfPresent,
} from "./files/files.ts";
import { configureNetworks } from "./files/load-networks.ts";
import { loadNetworkTable, loadPlans, loadRates, tableFiles } from "./files/load-tables.ts";
import { type Reading, makeReading } from "./files/config-report.ts";
import type { Mode, Setting, Settings, ValuesOf } from "./setting.ts";
import { type SettingValues, isLongEnough, secretBytesMin, settings } from "./settings.ts";
import { type SettingsFile, type Sources, findRawSettings, nameOf } from "./sources.ts";
import { findUnknownEntries, findUnknownVariables, isNetworkVariable } from "./files/unknown.ts";
import { InvalidValue, readValue } from "./value-type.ts";

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
  const { sources, reading, values } = await readSources(declared, options);
  const files = tableFiles(values, mode);
  const table = await loadNetworkTable(files, reading);
  const networks = await configureNetworks(values, table, sources, reading);
  const rates = table === null ? null : await loadRates(files, table, values.rates, reading);
  reading.problems.push(...findUnknown(declared, sources, table));
  const secret = await loadSecret(values, sources, reading);
  const plans = await loadPlans(files, values, sources, reading);
  const proxy = readProxy(sources, reading);
  if (mode !== "cli" && values.databaseUrl === null) {
    const fault = await findFolderFault(values.dataDir, options.isWritable);
    if (fault !== null) {
      reading.problems.push({
        name: nameOf(settings.dataDir, sources),
        message: `cannot be used: ${fault}`,
      });
    }
  }

  if (rates === null || plans === null || reading.problems.length > 0)
    throw new ConfigError(reading.problems, reading.settings);
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
  return { config, settings: reading.settings };
}

/** Finds the sources of settings, and reads the declared ones. */
async function readSources<D extends Settings>(
  declared: D,
  options: Omit<LoadOptions, "isWritable">,
): Promise<{
  readonly sources: Sources;
  readonly reading: Reading;
  readonly values: ValuesOf<D>;
}> {
  const { mode, flags = {}, env = process.env, cwd = process.cwd() } = options;
  const reading = makeReading();
  const withoutFile: Sources = { flags, env, cwd, isDemo: mode === "demo", file: null };
  const sources = { ...withoutFile, file: await loadFile(withoutFile, reading) };
  return { sources, reading, values: readSettings(declared, sources, reading) };
}

/**
 * Reads only the location of the store, for commands that must answer at once. Other invalid settings are ignored.
 * @throws ConfigError
 */
export async function findStore(
  options: Omit<LoadOptions, "isWritable">,
): Promise<Pick<Config, "dataDir" | "databaseUrl">> {
  const { dataDir, databaseUrl } = settings;
  const { reading, values } = await readSources({ dataDir, databaseUrl }, options);
  if (reading.problems.length > 0) throw new ConfigError(reading.problems, reading.settings);
  return values;
}

function readProxy(sources: Sources, reading: Reading): ProxySettings {
  return readProxySettings(sources.env, (name, message) => {
    reading.problems.push({ name, message });
  });
}

/** Loads the settings file: the named one, or else the till.yaml of the data folder if it exists. */
async function loadFile(sources: Sources, reading: Reading): Promise<SettingsFile | null> {
  // Problems with these two settings are reported later, with all others.
  const named = quietly(settings.configFile, sources);
  const dataDir = quietly(settings.dataDir, sources);
  const path = named ?? (dataDir === null ? null : join(dataDir, "till.yaml"));
  if (path === null) return null;
  const name = named === null ? path : nameOf(settings.configFile, sources);
  return await reading.attempt(name, async () => {
    const text = named === null ? await readTextIfPresent(path) : await readText(path);
    if (text === null) return null;
    const writers = await findWriters(path);
    if (writers !== null) throw new InvalidValue(writers);
    const file = await parseSettingsFile(path, text);
    if (named !== null || !Object.hasOwn(file.entries, "dataDir")) return file;
    const message = "cannot be set in a file that lies in the data folder";
    reading.problems.push({ name: `dataDir in ${path}`, message });
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
  reading: Reading,
): ValuesOf<D> {
  const values = Object.values(declared).map((setting) => {
    const given = findRawSettings(setting, sources);
    const key = setting.inFile ? setting.name : null;
    const value =
      reading.read(setting.env, key, setting.schema, given) ?? fallback(setting, sources);
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
  reading: Reading,
): Promise<string | null> {
  const { secret, secretFile, databaseUrl } = values;
  const name = nameOf(settings.secretFile, sources);
  if (secretFile === null) {
    const isGiven = findRawSettings(settings.secret, sources) !== null;
    if (databaseUrl !== null && !isGiven) {
      const message =
        "or TILL_SECRET_FILE must be set for a store on PostgreSQL, because its processes share it: " +
        "openssl rand -base64 32 generates one";
      reading.problems.push({ name: settings.secret.env, message });
    }
    return secret;
  }
  if (findRawSettings(settings.secret, sources) !== null) {
    const message = `and ${nameOf(settings.secret, sources)} are both set: keep one of them`;
    reading.problems.push({ name, message });
    return null;
  }
  return await reading.attempt(name, async () => {
    const text = (await readText(secretFile)).replace(/\r?\n$/, "");
    if (isLongEnough(text)) return text;
    throw new InvalidValue(
      `names a file that is too short: a secret has at least ${String(secretBytesMin)} bytes`,
    );
  });
}
