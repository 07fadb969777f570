import { isIP } from "node:net";
import { resolve } from "node:path";
import { maskPostgresUrl, maskSecret, maskUrl } from "./mask.ts";
import { cronLines } from "../jobs/cron-line.ts";
import { parseUrl } from "../../kernel/url.ts";
import { InvalidPostgresUrl, urlsOfHosts } from "../database/postgres/url.ts";

/** Thrown for an invalid value. The message continues the setting's name and contains no secret. */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
}

/**
 * A type of setting value: how it is parsed from a flag, a variable or the file, and how it is displayed. Settings do
 * not use zod, unlike the YAML tables: commands that only locate the store must answer at once, and loading zod would
 * take most of their time.
 */
export interface ValueType<T> {
  /** The accepted values, for messages and docs/settings.md: `a whole number from 0 to 65535`. */
  readonly takes: string;
  /** The placeholder after a flag: `number`. */
  readonly placeholder: string;
  /** True if it is always masked and cannot be given by a flag, because every user of the machine can see arguments. */
  readonly isSecret: boolean;
  /**
   * Parses text, or the YAML value from the file. Relative paths start from the folder.
   * @throws InvalidValue
   */
  read(given: unknown, folder: string): T;
  /** Formats the value for display. */
  show(value: T): string;
}

function refuse(takes: string, given: unknown): InvalidValue {
  const shown = typeof given === "string" ? given : (JSON.stringify(given) as string | undefined);
  const cut = (shown ?? "").slice(0, 60);
  return new InvalidValue(`must be ${takes}, not ${JSON.stringify(cut)}`);
}

/** Returns text as it is, and a YAML number or boolean as text. */
function asText(given: unknown): string | null {
  if (typeof given === "string") return given.trim();
  return typeof given === "number" || typeof given === "boolean" ? String(given) : null;
}

/** A type that is parsed from text; `parse` returns null for an invalid value. */
function textual<T>(
  takes: string,
  placeholder: string,
  parse: (text: string, folder: string) => T | null,
  show: (value: T) => string = String,
): ValueType<T> {
  return {
    takes,
    placeholder,
    isSecret: false,
    read(given, folder) {
      const text = asText(given);
      const value = text === null ? null : parse(text, folder);
      if (value === null) throw refuse(takes, given);
      return value;
    },
    show,
  };
}

export function wholeNumber(least: number, most: number, unit = ""): ValueType<number> {
  const what = unit === "" ? "a whole number" : `a whole number of ${unit}`;
  return textual(`${what} from ${String(least)} to ${String(most)}`, "number", (text) => {
    const value = /^(0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : -1;
    return value >= least && value <= most ? value : null;
  });
}

export function decimalNumber(least: number, most: number): ValueType<number> {
  return textual(`a number from ${String(least)} to ${String(most)}`, "number", (text) => {
    const value = /^(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?$/.test(text) ? Number(text) : -1;
    return value >= least && value <= most ? value : null;
  });
}

export function choice<const T extends string>(...options: readonly T[]): ValueType<T> {
  return textual(orList(options), options.join("|"), (text) => {
    // `true` and `false` are common spellings of on and off.
    const word = text === "true" ? "on" : text === "false" ? "off" : text;
    return options.find((option) => option === word || option === text) ?? null;
  });
}

function orList(options: readonly string[]): string {
  return `${options.slice(0, -1).join(", ")} or ${options.at(-1) ?? ""}`;
}

/** A switch: 1 or 0. */
export const yesNo: ValueType<boolean> = {
  ...textual<boolean>("1 or 0", "", (text) => {
    if (text === "1" || text === "true") return true;
    return text === "0" || text === "false" ? false : null;
  }),
  show: (value) => (value ? "1" : "0"),
};

/** A cron line, as node-cron takes it. */
export const cronLine: ValueType<string> = textual(
  "a cron line of five fields such as 15 3 * * *",
  "cron",
  (text) => (cronLines(text).length === 0 ? null : text),
);

/** A file or folder; relative paths are resolved to absolute ones. */
export const path: ValueType<string> = textual("a path", "path", (text, folder) =>
  text === "" || text.includes("\0") ? null : resolve(folder, text),
);

/** The address or host name that a server listens on. */
export const hostName: ValueType<string> = textual(
  "an address or a host's name, such as 127.0.0.1 or 0.0.0.0",
  "host",
  (text) =>
    isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : null,
);

/** A base URL for links, without a trailing slash. */
export const baseUrl: ValueType<string> = textual(
  "a URL such as https://pay.example.com, with nothing but a path after the host",
  "url",
  (text) => {
    const url = parseUrl(text);
    if (url === null) return null;
    const { protocol, username, password, host, pathname, search, hash, origin } = url;
    const extras = username + password + search + hash;
    if (!/^https?:$/.test(protocol) || host === "" || extras !== "") return null;
    return origin + pathname.replace(/\/+$/, "");
  },
);

/** A name or an id. */
export const oneLine: ValueType<string> = textual("text of one line", "text", (text) =>
  text === "" || /\p{Cc}/u.test(text) ? null : text,
);

/** A list: comma-separated text, or a list in the file. Duplicates count once. */
export function list<T>(item: ValueType<T>, least = 0): ValueType<readonly T[]> {
  const takes = `${item.takes}; several are separated by commas`;
  return {
    takes,
    placeholder: "list",
    isSecret: item.isSecret,
    read(given, folder) {
      const items: unknown[] = Array.isArray(given) ? given : splitList(given, takes);
      const values = [...new Set(items.map((one) => item.read(one, folder)))];
      if (values.length < least) throw new InvalidValue(`must name at least ${String(least)}`);
      return values;
    },
    show: (values) => values.map((value) => item.show(value)).join(","),
  };
}

function splitList(given: unknown, takes: string): string[] {
  const text = asText(given);
  if (text === null) throw refuse(takes, given);
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

/** A network's id; the network table decides whether it exists. */
export const networkId: ValueType<string> = textual(
  "a network's id such as tron",
  "network",
  (text) => (/^[a-z][a-z0-9]*$/.test(text) ? text : null),
);

/** An address range in CIDR notation; a single address is a range of one. */
export const addressRange: ValueType<string> = textual(
  "an address or a range of addresses such as 10.0.0.0/8 or fd00::/8",
  "cidr",
  (text) => {
    const [address = "", prefix, ...rest] = text.toLowerCase().split("/");
    const family = isIP(address);
    if (family === 0 || address.includes("%") || rest.length > 0) return null;
    const bitsMax = family === 4 ? 32 : 128;
    if (prefix === undefined) return `${address}/${String(bitsMax)}`;
    return /^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bitsMax
      ? `${address}/${prefix}`
      : null;
  },
);

/** Secret text, always masked. */
export function secretText(takes: string, isValid: (text: string) => boolean): ValueType<string> {
  return {
    takes,
    placeholder: "secret",
    isSecret: true,
    read(given) {
      if (typeof given !== "string" || !isValid(given)) throw new InvalidValue(`must be ${takes}`);
      return given;
    },
    show: maskSecret,
  };
}

/** A PostgreSQL URL, also with several hosts; displayed without its password. */
export const databaseUrl: ValueType<string> = {
  takes: "a URL such as postgres://user:password@host:5432/till",
  placeholder: "url",
  isSecret: true,
  read(given) {
    try {
      urlsOfHosts(typeof given === "string" ? given : "");
    } catch (error) {
      throw error instanceof InvalidPostgresUrl ? new InvalidValue(error.message) : error;
    }
    return String(given);
  },
  show: maskPostgresUrl,
};

/** A provider's URL. Its path often contains an API key, so only the parts that cannot be a key are displayed. */
export const providerUrl: ValueType<string> = {
  ...secretText(
    "an http: or https: URL without user name and password, which belong in the headers",
    (text) => {
      const url = parseUrl(text);
      if (url === null) return false;
      const { protocol, username, password } = url;
      return /^https?:$/.test(protocol) && username + password === "";
    },
  ),
  placeholder: "url",
  show: maskUrl,
};
