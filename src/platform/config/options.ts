import type { Setting } from "./setting.ts";
import { settings } from "./settings.ts";

/** A flag as a parser of arguments declares it. */
export interface SettingOption {
  /** `--port <number>`, or `--sandbox-mixed` alone. */
  readonly flags: string;
  readonly description: string;
}

/** The flags of settings that every command takes: where the store and its settings are. */
export function commonOptions(): SettingOption[] {
  return [settings.dataDir, settings.configFile].flatMap(toOption);
}

/** The flags of all settings, for the commands that serve. */
export function allOptions(): SettingOption[] {
  return Object.values(settings).flatMap((setting: Setting<unknown>) => toOption(setting));
}

function toOption({ flag, type, description, env }: Setting<unknown>): SettingOption[] {
  if (flag === null) return [];
  const flags = type.placeholder === "" ? flag : `${flag} <${type.placeholder}>`;
  return [{ flags, description: `${description.split(/(?<=\.) /)[0] ?? ""} (${env})` }];
}
