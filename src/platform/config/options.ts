import type { Setting, Settings } from "./setting.ts";
import { settings } from "./settings.ts";
import { wordsOf } from "./value-type.ts";

/** A flag in the form that the command-line parser takes. */
export interface SettingOption {
  /** `--port <number>`, or `--sandbox-mixed` alone. */
  readonly flags: string;
  readonly description: string;
}

/** Returns the flags that every command takes: those that locate the store and the settings file. */
export function commonOptions(): SettingOption[] {
  return [settings.dataDir, settings.configFile].flatMap(toOption);
}

/** Returns the flags of all settings, for the commands that start a server. */
export function allOptions(declared: Settings = settings): SettingOption[] {
  return Object.values(declared).flatMap(toOption);
}

function toOption({ flag, schema, description, env }: Setting): SettingOption[] {
  if (flag === null) return [];
  const { placeholder } = wordsOf(schema);
  const flags = placeholder === "" ? flag : `${flag} <${placeholder}>`;
  return [{ flags, description: `${description.split(/(?<=\.) /)[0] ?? ""} (${env})` }];
}
