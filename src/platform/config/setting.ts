import type { ValueType } from "./value-type.ts";

/** The section of docs/settings.md that lists the setting. */
export type SettingGroup =
  | "Store and secrets"
  | "Backups"
  | "Server"
  | "Networks"
  | "Access"
  | "Webhooks"
  | "Limits"
  | "Logs and metrics"
  | "Command line";

/** How the program was started. Some defaults differ in the demo, and only a server needs a writable store. */
export type Mode = "serve" | "demo" | "cli";

interface Declaration<T> {
  readonly group: SettingGroup;
  readonly type: ValueType<T>;
  /** The default in the form of an environment variable. */
  readonly default?: string;
  /** The demo's default, if it differs. */
  readonly demo?: string;
  /** One or more sentences for docs/settings.md; `--help` shows the first. */
  readonly description: string;
  readonly example?: string;
  /** The environment variable; by default `TILL_` and the setting's name. */
  readonly env?: string;
  /** The flag; by default the setting's name. Secrets have none, nor has a setting with null. */
  readonly flag?: string | null;
  /** True if till.yaml may set it; the default. */
  readonly inFile?: boolean;
  /** True if the demo ignores it, because the demo must not touch anything that belongs to a real store. */
  readonly ignoredInDemo?: boolean;
}

/** A setting. Loading, `config show` and docs/settings.md are derived from its declaration. */
export interface Setting<T> {
  /** The key in till.yaml and in Config. */
  readonly name: string;
  readonly group: SettingGroup;
  readonly type: ValueType<NonNullable<T>>;
  readonly default: string | null;
  readonly demo: string | null;
  readonly description: string;
  readonly example: string | null;
  readonly env: string;
  readonly flag: string | null;
  readonly inFile: boolean;
  readonly ignoredInDemo: boolean;
}

/** A setting without its name, which is the key under which it is declared. */
type Unnamed<T> = Omit<Setting<T>, "name" | "env" | "flag"> & {
  readonly env: string | null;
  /** Undefined: derived from the name. */
  readonly flag: string | null | undefined;
};

/** Declares a setting with a default. */
export function required<T extends object | string | number | boolean>(
  declared: Declaration<T> & { readonly default: string },
): Unnamed<T> {
  return complete(declared);
}

/** Declares a setting that is null unless it is given. */
export function optional<T extends object | string | number | boolean>(
  declared: Declaration<T> & { readonly default?: never },
): Unnamed<T | null> {
  return complete(declared);
}

function complete<T extends object | string | number | boolean>(
  declared: Declaration<T>,
): Unnamed<T> {
  return {
    ...declared,
    type: declared.type,
    default: declared.default ?? null,
    demo: declared.demo ?? null,
    example: declared.example ?? null,
    env: declared.env ?? null,
    flag: declared.flag,
    inFile: declared.inFile ?? true,
    ignoredInDemo: declared.ignoredInDemo ?? false,
  };
}

type Named<D> = {
  readonly [K in keyof D]: D[K] extends Unnamed<infer T> ? Setting<T> : never;
};
/** Declared settings by name. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type ValuesOf<D> = {
  readonly [K in keyof D]: D[K] extends Setting<infer T> ? T : never;
};

/** Adds the names, and the variables and flags that are derived from them. */
export function declareSettings<const D extends Readonly<Record<string, Unnamed<unknown>>>>(
  declared: D,
): Named<D> {
  const named = Object.entries(declared).map(([name, setting]) => {
    const flag = setting.type.isSecret ? null : `--${words(name).join("-")}`;
    return [
      name,
      {
        ...setting,
        name,
        env: setting.env ?? `TILL_${words(name).join("_").toUpperCase()}`,
        flag: setting.flag === undefined ? flag : setting.flag,
      },
    ];
  });
  return Object.fromEntries(named) as Named<D>;
}

/** Splits a camel-case name into lowercase words: baseUrl → base, url. */
export function words(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Returns the property under which the command-line parser stores a flag's value: --base-url → baseUrl. */
export function flagProperty(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
