import type { Setting } from "./setting.ts";
import { flagProperty } from "./setting.ts";

/** Where a value came from. */
export interface Origin {
  readonly source: "flag" | "environment" | "file" | "default";
  /** What to correct: `--port`, `TILL_PORT`, `port in /var/lib/till/till.yaml`; empty for a default. */
  readonly name: string;
}

/** A value as somebody wrote it. */
export interface Given {
  readonly value: unknown;
  readonly origin: Origin;
  /** What its relative paths start from. */
  readonly folder: string;
}

/** Everything that settings are read from. */
export interface Sources {
  /** What a parser of arguments gave: properties such as `baseUrl`. Those that are no setting's are not looked at. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isDemo: boolean;
  readonly file: SettingsFile | null;
}

/** The settings of a file, read but not understood yet. */
export interface SettingsFile {
  /** Absolute. */
  readonly path: string;
  readonly folder: string;
  readonly entries: Readonly<Record<string, unknown>>;
}

/** The value that counts: flags beat the environment, which beats the file, which beats the default. */
export function findGiven(setting: Setting<unknown>, sources: Sources): Given | null {
  const { isDemo, cwd } = sources;
  const given =
    isDemo && setting.ignoredInDemo
      ? null
      : (fromFlag(setting, sources) ??
        fromEnvironment(setting.env, sources) ??
        (setting.inFile ? fromFile([setting.name], sources.file) : null));
  if (given !== null) return given;
  const value = isDemo ? (setting.demo ?? setting.default) : setting.default;
  return value === null ? null : { value, origin: { source: "default", name: "" }, folder: cwd };
}

/** What to correct about a setting: where it was given, or else its variable. */
export function nameOf(setting: Setting<unknown>, sources: Sources): string {
  const given = findGiven(setting, sources);
  return given === null || given.origin.source === "default" ? setting.env : given.origin.name;
}

function fromFlag(setting: Setting<unknown>, { flags, cwd }: Sources): Given | null {
  if (setting.flag === null) return null;
  const value = flags[flagProperty(setting.flag)];
  if (value === undefined) return null;
  return { value, origin: { source: "flag", name: setting.flag }, folder: cwd };
}

/** An empty variable counts as none: that is how compose files and shells pass on what is not set. */
export function fromEnvironment(name: string, { env, cwd }: Sources): Given | null {
  const value = env[name];
  if (value === undefined || value.trim() === "") return null;
  return { value, origin: { source: "environment", name }, folder: cwd };
}

/** The entry that a path of keys leads to; an empty one counts as none. */
export function fromFile(keys: readonly string[], file: SettingsFile | null): Given | null {
  let value: unknown = file?.entries;
  for (const key of keys) value = isMapping(value) && Object.hasOwn(value, key) ? value[key] : null;
  if (file === null || value === undefined || value === null) return null;
  const name = `${keys.join(".")} in ${file.path}`;
  return { value, origin: { source: "file", name }, folder: file.folder };
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
