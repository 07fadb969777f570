import {
  findStore,
  loadConfig,
  type Config,
  type LoadedConfig,
  type Mode,
} from "../platform/config/index.ts";
import type { LogLevel } from "../platform/logger/levels.ts";
import type { Terminal } from "./terminal.ts";

/** What the parser of arguments gave, by property. */
export type Flags = Readonly<Record<string, unknown>>;

/** The settings of a command. @throws ConfigError */
export function loadSettings(
  { surroundings }: Terminal,
  mode: Mode,
  flags: Flags,
): Promise<LoadedConfig> {
  return loadConfig({ mode, flags, env: surroundings.env });
}

/** The settings of a command that works on a store: only where that is. Its other flags are its own. */
export function loadStoreSettings(
  terminal: Terminal,
  mode: Mode,
  { dataDir, config }: Flags,
): Promise<LoadedConfig> {
  return loadSettings(terminal, mode, { dataDir, config });
}

/** Where a command's store is, for one that needs to know nothing else. @throws ConfigError */
export function findCommandStore(
  { surroundings }: Terminal,
  { dataDir, config }: Flags,
): Promise<Pick<Config, "dataDir" | "databaseUrl">> {
  return findStore({ mode: "cli", flags: { dataDir, config }, env: surroundings.env });
}

/** A command says what it did by itself: its log is for when that is not enough. */
export function logLevelOf({ isVerbose }: Terminal, { config }: LoadedConfig): LogLevel {
  return isVerbose ? config.logLevel : "error";
}
