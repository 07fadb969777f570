import type { ValueType } from "./value-type.ts";

/** Where in the reference a setting stands. */
export type SettingGroup =
  | "Store and secrets"
  | "Server"
  | "Networks"
  | "Access"
  | "Webhooks"
  | "Limits"
  | "Logs and metrics";

/** How the program was started: some defaults differ in the demo, and only who serves needs a writable store. */
export type Mode = "serve" | "demo" | "cli";

interface Declaration<T> {
  readonly group: SettingGroup;
  readonly type: ValueType<T>;
  /** The default as one would write it. */
  readonly default?: string;
  /** The demo's, where it is another. */
  readonly demo?: string;
  /** Sentences that say what it does. */
  readonly description: string;
  readonly example?: string;
  /** The environment variable; without one it is `TILL_` and the setting's name. */
  readonly env?: string;
  /** The flag; without one it is the setting's name, and secrets have none. */
  readonly flag?: string;
  /** Whether till.yaml may give it. */
  readonly inFile?: boolean;
  /** The demo does not look at it: it touches nothing that is meant for a real store. */
  readonly ignoredInDemo?: boolean;
}

/** One setting, declared once: loading, `config show` and docs/settings.md are derived from it. */
export interface Setting<T> {
  /** Its key in till.yaml and in Config. */
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

/** A setting whose name is still to come from where it is declared. */
type Unnamed<T> = Omit<Setting<T>, "name" | "env" | "flag"> & {
  readonly env: string | null;
  readonly flag: string | null;
};

/** A setting that always has a value. */
export function required<T extends object | string | number | boolean>(
  declared: Declaration<T> & { readonly default: string },
): Unnamed<T> {
  return complete(declared);
}

/** A setting that is null where nobody gives it. */
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
    flag: declared.flag ?? null,
    inFile: declared.inFile ?? true,
    ignoredInDemo: declared.ignoredInDemo ?? false,
  };
}

type Named<D> = {
  readonly [K in keyof D]: D[K] extends Unnamed<infer T> ? Setting<T> : never;
};
export type ValuesOf<D> = {
  readonly [K in keyof D]: D[K] extends Setting<infer T> ? T : never;
};

/** Gives each setting its name, and the variable and flag that follow from it. */
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
        flag: setting.flag ?? flag,
      },
    ];
  });
  return Object.fromEntries(named) as Named<D>;
}

/** baseUrl → base, url */
export function words(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** The property under which a parser of arguments keeps a flag's value: --base-url → baseUrl */
export function flagProperty(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
