import type { z } from "zod";
import { wordsOf } from "./value-type.ts";

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

/** A setting as it is declared, under its name. */
interface Declaration {
  readonly group: SettingGroup;
  /** A schema of value-type.ts, which says whether it is a secret. */
  readonly schema: z.ZodType;
  /** The default in the form of an environment variable; without one, the setting is null unless it is given. */
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
export interface Setting<T = unknown> extends Required<
  Pick<Declaration, "group" | "description" | "env" | "flag" | "inFile" | "ignoredInDemo">
> {
  /** The key in till.yaml and in Config. */
  readonly name: string;
  readonly schema: z.ZodType<NonNullable<T>>;
  readonly default: string | null;
  readonly demo: string | null;
  readonly example: string | null;
}

type ValueOf<D extends Declaration> =
  | z.output<D["schema"]>
  | (D extends { readonly default: string } ? never : null);

/** Declared settings by name. */
export type Settings = Readonly<Record<string, Setting>>;
export type ValuesOf<S> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Adds the names, the variables and flags that are derived from them, and the defaults of a declaration. */
export function declareSettings<const D extends Readonly<Record<string, Declaration>>>(
  declared: D,
) {
  const named = Object.entries(declared).map(([name, setting]): [string, Setting] => {
    const { isSecret = false } = wordsOf(setting.schema);
    return [
      name,
      {
        default: null,
        demo: null,
        example: null,
        env: `TILL_${words(name).join("_").toUpperCase()}`,
        flag: isSecret ? null : `--${words(name).join("-")}`,
        inFile: true,
        ignoredInDemo: false,
        ...setting,
        name,
      } as Setting,
    ];
  });
  return Object.fromEntries(named) as { readonly [K in keyof D]: Setting<ValueOf<D[K]>> };
}

/** Splits a camel-case name into lowercase words: baseUrl → base, url. */
export function words(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Returns the property under which the command-line parser stores a flag's value: --base-url → baseUrl. */
export function flagProperty(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
