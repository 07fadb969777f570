import { findStore, loadConfig } from "../platform/config/load.ts";
import type { Config, LoadedConfig } from "../platform/config/config.ts";
import type { Mode } from "../platform/config/setting.ts";
import type { LogLevel } from "../platform/logger/levels.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Parsed flags by property name. */
export type Flags = Readonly<Record<string, unknown>>;

/** Loads the settings of a command. @throws ConfigError */
export function loadSettings(
  { surroundings }: Terminal,
  mode: Mode,
  flags: Flags,
): Promise<LoadedConfig> {
  return loadConfig({ mode, flags, env: surroundings.env });
}

/** Loads the settings for a command that works on a store. Only the flags for the store's location are settings. */
export function loadStoreSettings(
  terminal: Terminal,
  mode: Mode,
  { dataDir, config }: Flags,
): Promise<LoadedConfig> {
  return loadSettings(terminal, mode, { dataDir, config });
}

/** Finds a command's store without loading the other settings. @throws ConfigError */
export function findCommandStore(
  { surroundings }: Terminal,
  { dataDir, config }: Flags,
): Promise<Pick<Config, "dataDir" | "databaseUrl">> {
  return findStore({ mode: "cli", flags: { dataDir, config }, env: surroundings.env });
}

/**
 * Returns a command's log level. Commands print their results themselves, so only errors are logged unless --verbose.
 */
export function logLevelOf({ isVerbose }: Terminal, { config }: LoadedConfig): LogLevel {
  return isVerbose ? config.logLevel : "error";
}
