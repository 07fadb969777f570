import type * as z from "zod";
import type { ConfigProblem, ReportedSetting } from "./config.ts";
import { flagProperty, InvalidValue, readValue, showValue, type Setting } from "./setting.ts";

/** The origin of a value. */
export interface Origin {
  readonly source: "flag" | "environment" | "file" | "default";
  /** The thing to correct: `--port`, `TILL_PORT`, `port in /var/lib/till/till.yaml`; empty for a default. */
  readonly name: string;
}

/** A value as it was given, not parsed yet. */
export interface RawSetting {
  readonly value: unknown;
  readonly origin: Origin;
  /** The folder that relative paths start from. */
  readonly folder: string;
}

/** The sources of settings. */
export interface Sources {
  /**
   * The parsed command-line arguments, by properties such as `baseUrl`. Properties that belong to no setting are
   * ignored.
   */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly isDemo: boolean;
  readonly file: SettingsFile | null;
}

/** The entries of a settings file, not parsed yet. */
export interface SettingsFile {
  /** The absolute path. */
  readonly path: string;
  readonly folder: string;
  readonly entries: Readonly<Record<string, unknown>>;
}

/**
 * Returns the effective value: flags override the environment, which overrides the file, which overrides the default.
 */
export function findRawSettings(setting: Setting, sources: Sources): RawSetting | null {
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

/** Returns the name to report for a setting: the file and key where it was given, or else its environment variable. */
export function nameOf(setting: Setting, sources: Sources): string {
  const given = findRawSettings(setting, sources);
  return given === null || given.origin.source === "default" ? setting.env : given.origin.name;
}

function fromFlag(setting: Setting, { flags, cwd }: Sources): RawSetting | null {
  if (setting.flag === null) return null;
  const value = flags[flagProperty(setting.flag)];
  if (value === undefined) return null;
  return { value, origin: { source: "flag", name: setting.flag }, folder: cwd };
}

/**
 * Returns a variable's value. An empty one counts as not set: compose files and shells pass unset variables on that
 * way.
 */
export function fromEnvironment(name: string, { env, cwd }: Sources): RawSetting | null {
  const value = env[name];
  if (value === undefined || value.trim() === "") return null;
  return { value, origin: { source: "environment", name }, folder: cwd };
}

/** Returns the entry at a path of keys; null if it is missing or empty. */
export function fromFile(keys: readonly string[], file: SettingsFile | null): RawSetting | null {
  let value: unknown = file?.entries;
  for (const key of keys) value = isMapping(value) && Object.hasOwn(value, key) ? value[key] : null;
  if (file === null || value === undefined || value === null) return null;
  const name = `${keys.join(".")} in ${file.path}`;
  return { value, origin: { source: "file", name }, folder: file.folder };
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Collects the settings that were read and their problems, so that all are reported at once. */
export interface SettingsReader {
  readonly problems: ConfigProblem[];
  readonly settings: ReportedSetting[];
  /** Reads and reports a setting; null if it is not given or invalid. */
  read<T>(
    name: string,
    key: string | null,
    schema: z.ZodType<T>,
    given: RawSetting | null,
  ): T | null;
  /** Reports a setting whose value is the program's default. */
  report(name: string, key: string | null, value: string): void;
  /** Runs an action. If it throws an InvalidValue, its problem is recorded under the name and the result is null. */
  attempt<T>(name: string, action: () => T | Promise<T>): Promise<T | null>;
}

export function makeSettingsReader(): SettingsReader {
  const problems: ConfigProblem[] = [];
  const settings: ReportedSetting[] = [];
  const byDefault = { source: "default", name: "" } as const;
  return {
    problems,
    settings,
    read(name, key, schema, given) {
      if (given === null) {
        settings.push({ name, key, value: null, origin: byDefault });
        return null;
      }
      const { origin } = given;
      try {
        const value = readValue(schema, given.value, given.folder);
        settings.push({ name, key, value: showValue(schema, value), origin });
        return value;
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error;
        problems.push({ name: origin.name, message: error.message });
        settings.push({ name, key, value: "(invalid)", origin });
        return null;
      }
    },
    report(name, key, value) {
      settings.push({ name, key, value, origin: byDefault });
    },
    async attempt(name, action) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof InvalidValue)) throw error;
        problems.push({ name, message: error.message });
        return null;
      }
    },
  };
}
