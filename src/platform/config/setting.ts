import { isIP } from "node:net";
import { resolve } from "node:path";
import * as z from "zod";
import { Defect } from "../../kernel/errors.ts";
import { parseUrl } from "../../kernel/url.ts";
import {
  InvalidPostgresUrl,
  nameOfPostgres,
  parsePostgresUrl,
  urlsOfHosts,
} from "../database/postgres/url.ts";
import { cronLines } from "../jobs/cron-line.ts";

/** Thrown for an invalid value. The message continues the setting's name and contains no secret. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
}

/** How a setting's schema and its values are worded. */
interface Words {
  /** The accepted values, for messages and docs/settings.md: `a whole number from 0 to 65535`. */
  readonly takes: string;
  /** The placeholder after a flag: `number`; empty for a switch. */
  readonly placeholder: string;
  /** True if it is always masked and cannot be given by a flag, because every user of the machine can see arguments. */
  readonly isSecret?: boolean;
  /** True for a path. A relative one starts from the folder of its source. */
  readonly isPath?: boolean;
  /** The schema of a list's items. */
  readonly item?: z.ZodType;
  /** Formats a value for display. */
  readonly show?: (value: never) => string;
}

const words = new WeakMap<z.ZodType, Words>();

/** Gives a setting's schema its words. Returns the schema. */
export function worded<S extends z.ZodType>(schema: S, own: Words): S {
  words.set(schema, own);
  return schema;
}

/** Returns the words of a setting's schema. */
export function wordsOf(schema: z.ZodType): Words {
  const found = words.get(schema);
  if (found === undefined) throw new Defect("a setting's schema has no words");
  return found;
}

/**
 * Parses text, or the YAML value from the file. Relative paths start from the folder.
 * @throws InvalidValue
 */
export function readValue<T>(schema: z.ZodType<T>, given: unknown, folder: string): T {
  // A schema without a message of its own gets the common one.
  const parsed = schema.safeParse(given, { error: () => "" });
  if (!parsed.success) throw new InvalidValue(faultOf(schema, given, parsed.error));
  const { data } = parsed;
  return wordsOf(schema).isPath === true && typeof data === "string"
    ? (resolve(folder, data) as T & string)
    : data;
}

function faultOf(schema: z.ZodType, given: unknown, { issues: [issue] }: z.ZodError): string {
  if (issue !== undefined && issue.message !== "") return issue.message;
  const { takes, item } = wordsOf(schema);
  const [index] = issue?.path ?? [];
  if (item === undefined || typeof index !== "number") return refusal(takes, given);
  const items = itemsOf(given) as readonly unknown[];
  return refusal(wordsOf(item).takes, items[index]);
}

function refusal(takes: string, given: unknown): string {
  const shown = typeof given === "string" ? given : (JSON.stringify(given) as string | undefined);
  return `must be ${takes}, not ${JSON.stringify((shown ?? "").slice(0, 60))}`;
}

/** Formats a value for display, with secrets masked. */
export function showValue(schema: z.ZodType, value: unknown): string {
  const { item, show } = wordsOf(schema);
  if (show !== undefined) return show(value as never);
  if (item !== undefined && Array.isArray(value)) {
    return value.map((one) => showValue(item, one)).join(",");
  }
  return String(value);
}

/** Returns text without the spaces around it, and a YAML number or boolean as text. */
function asText(given: unknown): unknown {
  if (typeof given === "string") return given.trim();
  return typeof given === "number" || typeof given === "boolean" ? String(given) : given;
}

/** A schema for values that are given as text. */
function textual<S extends z.ZodType>(
  takes: string,
  placeholder: string,
  schema: S,
  more: Partial<Words> = {},
) {
  return worded(z.preprocess(asText, schema), { takes, placeholder, ...more });
}

function numeric(what: string, pattern: RegExp, least: number, most: number) {
  const takes = `${what} from ${String(least)} to ${String(most)}`;
  const number = z.number().min(least).max(most);
  return textual(takes, "number", z.string().regex(pattern).transform(Number).pipe(number));
}

export function wholeNumber(least: number, most: number, unit = "") {
  const what = unit === "" ? "a whole number" : `a whole number of ${unit}`;
  return numeric(what, /^(0|[1-9][0-9]{0,9})$/, least, most);
}

export function decimalNumber(least: number, most: number) {
  return numeric("a number", /^(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?$/, least, most);
}

export function choice<const T extends readonly string[]>(...options: T) {
  const takes = `${options.slice(0, -1).join(", ")} or ${options.at(-1) ?? ""}`;
  // `true` and `false` are common spellings of on and off.
  const word = (text: string) => (text === "true" ? "on" : text === "false" ? "off" : text);
  return textual(takes, options.join("|"), z.string().transform(word).pipe(z.enum(options)));
}

/** A switch: 1 or 0. */
export const yesNo = textual(
  "1 or 0",
  "",
  z.enum(["1", "true", "0", "false"]).transform((text) => text === "1" || text === "true"),
  { show: (value: boolean) => (value ? "1" : "0") },
);

/** A cron line, as node-cron takes it. */
export const cronLine = textual(
  "a cron line of five fields such as 15 3 * * *",
  "cron",
  z.string().refine((text) => cronLines(text).length > 0),
);

/** A file or folder; relative paths are resolved to absolute ones. */
export const path = textual("a path", "path", z.string().regex(/^[^\0]+$/), { isPath: true });

/** The address or host name that a server listens on. */
export const hostName = textual(
  "an address or a host's name, such as 127.0.0.1 or 0.0.0.0",
  "host",
  z.string().refine(isHost),
);

function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text);
}

/** A base URL for links, without a trailing slash. */
export const baseUrl = textual(
  "a URL such as https://pay.example.com, with nothing but a path after the host",
  "url",
  z.string().transform(asBaseUrl).pipe(z.string()),
);

function asBaseUrl(text: string): string | null {
  const url = parseUrl(text);
  if (url === null) return null;
  const { protocol, username, password, host, pathname, search, hash, origin } = url;
  const extras = username + password + search + hash;
  if (!/^https?:$/.test(protocol) || host === "" || extras !== "") return null;
  return origin + pathname.replace(/\/+$/, "");
}

/** A name or an id. */
export const oneLine = textual("text of one line", "text", z.string().regex(/^\P{Cc}+$/u));

/** A list: comma-separated text, or a list in the file. Duplicates count once. */
export function list<T>(item: z.ZodType<T>, least = 0) {
  const { takes, isSecret = false } = wordsOf(item);
  const schema = z
    .preprocess(itemsOf, z.array(item))
    .transform((values): readonly T[] => [...new Set(values)])
    .refine((values) => values.length >= least, {
      error: `must name at least ${String(least)}`,
    });
  return worded(schema, {
    takes: `${takes}; several are separated by commas`,
    placeholder: "list",
    isSecret,
    item,
  });
}

/** Returns the items of a list, which may be invalid. */
function itemsOf(given: unknown): unknown {
  const text = asText(given);
  if (typeof text !== "string") return given;
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** A network's id; the network table decides whether it exists. */
export const networkId = textual(
  "a network's id such as tron",
  "network",
  z.string().regex(/^[a-z][a-z0-9]*$/),
);

/** An address range in CIDR notation; a single address is a range of one. */
export const addressRange = textual(
  "an address or a range of addresses such as 10.0.0.0/8 or fd00::/8",
  "cidr",
  z.string().transform(asRange).pipe(z.string()),
);

function asRange(text: string): string | null {
  const [address = "", prefix, ...rest] = text.toLowerCase().split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return null;
  const bitsMax = family === 4 ? 32 : 128;
  if (prefix === undefined) return `${address}/${String(bitsMax)}`;
  const isPrefix = /^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bitsMax;
  return isPrefix ? `${address}/${prefix}` : null;
}

/** Secret text, always masked. */
export function secretText(takes: string, isValid: (text: string) => boolean) {
  return secret({ takes, placeholder: "secret", show: maskSecret }, isValid);
}

const mask = "********";

/** The length, in characters, from which a path segment may be an API key. */
const keyLengthMin = 16;

/** A provider's URL. Its path often contains an API key, so only the parts that cannot be a key are displayed. */
export const providerUrl = secret(
  {
    takes: "an http: or https: URL without user name and password, which belong in the headers",
    placeholder: "url",
    show: maskUrl,
  },
  (text) => {
    const url = parseUrl(text);
    if (url === null) return false;
    const { protocol, username, password } = url;
    return /^https?:$/.test(protocol) && username + password === "";
  },
);

/** The message does not repeat the value. */
function secret(own: Words, isValid: (text: string) => boolean) {
  const error = `must be ${own.takes}`;
  return worded(z.string({ error }).refine(isValid, { error }), { ...own, isSecret: true });
}

/** A PostgreSQL URL, also with several hosts; displayed without its password. */
export const databaseUrl = worded(
  z.preprocess(
    (given) => (typeof given === "string" ? given : ""),
    z.string().superRefine((text, context) => {
      try {
        urlsOfHosts(text);
      } catch (error) {
        if (!(error instanceof InvalidPostgresUrl)) throw error;
        context.addIssue(error.message);
      }
    }),
  ),
  {
    takes: "a URL such as postgres://user:password@host:5432/till",
    placeholder: "url",
    isSecret: true,
    show: maskPostgresUrl,
  },
);

/** Returns the text that replaces a secret; it does not even reveal the length. */
export function maskSecret(_secret: string): string {
  return mask;
}

/** Masks the password of a URL, its query values, and the path segments that look like API keys. */
export function maskUrl(text: string): string {
  const url = parseUrl(text);
  if (url === null) return mask;
  const user =
    url.username === "" ? "" : `${url.username}${url.password === "" ? "" : `:${mask}`}@`;
  const path = url.pathname
    .split("/")
    .map((segment) => (segment.length >= keyLengthMin ? mask : segment))
    .join("/");
  const query = [...url.searchParams.keys()].map((name) => `${encodeURIComponent(name)}=${mask}`);
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  return `${url.protocol}//${user}${url.host}${path === "/" ? "" : path}${search}`;
}

/** Masks the password and the query values of PostgreSQL's URL; shows the hosts, wherever they were given. */
function maskPostgresUrl(text: string): string {
  const { user, password } = parsePostgresUrl(text);
  const [, query = ""] = text.split("?");
  const secret = password === null ? "" : `:${mask}`;
  const credentials = user === null ? "" : `${encodeURIComponent(user)}${secret}@`;
  const names = [...new URLSearchParams(query).keys()].map(
    (name) => `${encodeURIComponent(name)}=${mask}`,
  );
  return (
    nameOfPostgres(text).replace("://", `://${credentials}`) +
    (names.length === 0 ? "" : `?${names.join("&")}`)
  );
}

/** The section of docs/settings.md that lists the setting. */
type SettingGroup =
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
  /** A schema of setting.ts, which says whether it is a secret. */
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
        env: `TILL_${nameWords(name).join("_").toUpperCase()}`,
        flag: isSecret ? null : `--${nameWords(name).join("-")}`,
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
function nameWords(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Returns the property under which the command-line parser stores a flag's value: --base-url → baseUrl. */
export function flagProperty(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
