import { logFormats, logLevels } from "../logger/levels.ts";
import {
  addressRange,
  baseUrl,
  choice,
  cronLine,
  databaseUrl,
  decimalNumber,
  declareSettings,
  hostName,
  list,
  networkId,
  oneLine,
  path,
  secretText,
  wholeNumber,
  wordsOf,
  yesNo,
  type Setting,
  type Settings,
  type ValuesOf,
} from "./setting.ts";

/** The minimum length of the secret, in bytes. */
export const secretBytesMin = 32;
const callsPerWindow = wholeNumber(1, 1_000_000, "requests");

/** All settings except those that exist per network. */
export const settings = declareSettings({
  configFile: {
    group: "Store and secrets",
    schema: path,
    flag: "--config",
    inFile: false,
    description: "The settings file. By default `till.yaml` in the data folder, if it exists.",
    example: "/etc/till/till.yaml",
  },
  dataDir: {
    group: "Store and secrets",
    schema: path,
    default: "./data",
    description:
      "The folder of the store, the secrets and the backups. If it is missing, it is created with access for its owner " +
      "only. A settings file inside the data folder cannot set it.",
    example: "/var/lib/till",
  },
  databaseUrl: {
    group: "Store and secrets",
    schema: databaseUrl,
    env: "DATABASE_URL",
    ignoredInDemo: true,
    description:
      "The PostgreSQL database to use as the store. Without it the store is a SQLite file in the data folder. The " +
      "demo never uses it. Several hosts are separated by commas, of which the one that takes writes is used; " +
      "`?host=/run/postgresql` is the folder of a socket. Special characters of a password are percent-encoded.",
    example: "postgres://till:password@db.internal:5432/till",
  },
  databasePoolMax: {
    group: "Store and secrets",
    schema: wholeNumber(2, 500, "connections"),
    default: "16",
    description:
      "The maximum number of PostgreSQL connections of this process. Five of eight are for writes, the others for reads. One " +
      "more watches the server.",
    example: "32",
  },
  secret: {
    group: "Store and secrets",
    schema: secretText(`text of at least ${String(secretBytesMin)} bytes`, isLongEnough),
    description:
      "The secret from which signing and encryption keys are derived. Every process of a store needs the same one, for as " +
      "long as the store exists. With SQLite, one is generated in the data folder on first start; with PostgreSQL it must be set.",
    example: "$(openssl rand -base64 32)",
  },
  secretFile: {
    group: "Store and secrets",
    schema: path,
    description:
      "A file that contains the secret, in place of TILL_SECRET; a trailing line break is ignored.",
    example: "/run/secrets/till",
  },

  backupFolder: {
    group: "Backups",
    schema: path,
    description:
      "The folder of the backups. By default `backups` in the data folder; choose one on another disk.",
    example: "/mnt/backups/till",
  },
  backupSchedule: {
    group: "Backups",
    schema: cronLine,
    description:
      "When a server makes a backup, as a cron line in UTC: minute, hour, day of the month, month, day of the week. " +
      "A missed backup is made up once a server runs. Without it, the server makes no backups. Set it on every server of a store.",
    example: "15 3 * * *",
  },
  backupKeepCount: {
    group: "Backups",
    schema: wholeNumber(1, 10_000, "backups"),
    default: "14",
    description:
      "The maximum number of backups that stay in the backup folder; older ones are removed after the next scheduled " +
      "backup succeeded. Backups from before a migration stay.",
    example: "30",
  },
  backupKeepDays: {
    group: "Backups",
    schema: wholeNumber(1, 36_500, "days"),
    default: "90",
    description:
      "The maximum age of backups in the backup folder. The newest backup is never removed.",
    example: "365",
  },
  backupBeforeMigration: {
    group: "Backups",
    schema: yesNo,
    default: "1",
    description:
      "Whether a store is backed up before a new version of the program migrates it. Set it to 0 if you have made a " +
      "backup yourself.",
    example: "0",
  },

  host: {
    group: "Server",
    schema: hostName,
    default: "127.0.0.1",
    description: "The address that the server listens on; `0.0.0.0` for all interfaces.",
    example: "0.0.0.0",
  },
  port: {
    group: "Server",
    schema: wholeNumber(0, 65_535),
    default: "8080",
    description: "The port that the server listens on; 0 chooses a free one.",
    example: "8443",
  },
  stopDelayMs: {
    group: "Server",
    schema: wholeNumber(0, 10_000, "milliseconds"),
    default: "0",
    description:
      "How long a server that is asked to stop goes on accepting requests while `/readyz` is 503. Behind a proxy with " +
      "several servers, set it to more than the interval at which the proxy asks `/readyz`.",
    example: "4000",
  },
  baseUrl: {
    group: "Server",
    schema: baseUrl,
    description:
      "The public base URL, with which all links begin: the address at which payers reach the server. By default the " +
      "address that the server listens on.",
    example: "https://pay.example.com",
  },
  trustProxy: {
    group: "Server",
    schema: list(addressRange),
    default: "",
    description:
      "The reverse proxies whose `X-Forwarded-For` header is trusted. Otherwise the connection's address is the client's.",
    example: "127.0.0.1,10.0.0.0/8",
  },

  languagesFolder: {
    group: "Server",
    schema: path,
    description:
      "A folder with your own texts of the payers' pages: each `<language>.yaml` in it adds a language, or replaces texts " +
      "of the shipped one. Both have the format of `config/languages/`.",
    example: "/etc/till/languages",
  },

  networks: {
    group: "Networks",
    schema: list(networkId, 1),
    default: "tron",
    demo: "sandbox",
    description: "The enabled networks, by their ids in the network table.",
    example: "tron,ethereum",
  },
  networksFile: {
    group: "Networks",
    schema: path,
    description:
      "Your own network table, which replaces the shipped `config/networks.yaml` and has the same format.",
    example: "/etc/till/networks.yaml",
  },
  rates: {
    group: "Networks",
    schema: choice("on", "off"),
    default: "on",
    demo: "off",
    description:
      "Whether exchange rates are fetched from their sources. With `off` only the fixed rates of the rates file " +
      "apply, and an invoice in any other currency is refused.",
    example: "off",
  },
  ratesFile: {
    group: "Networks",
    schema: path,
    description:
      "Your own rates file, which replaces the shipped `config/rates.yaml` and has the same format. The shipped one " +
      "fetches ten currencies from three public sources; the demo's has fixed sample rates for them.",
    example: "/etc/till/rates.yaml",
  },
  sandboxBlockMs: {
    group: "Networks",
    schema: wholeNumber(0, 3_600_000, "milliseconds"),
    default: "1000",
    description: "Block interval of the sandbox, in milliseconds; 0: blocks only on command.",
    example: "200",
  },
  sandboxMixed: {
    group: "Networks",
    schema: yesNo,
    default: "0",
    description:
      "Allows the sandbox together with real networks. Sandbox tokens are free, so payments there have no " +
      "value.",
    example: "1",
  },

  registration: {
    group: "Access",
    schema: choice("open", "invite", "closed"),
    default: "closed",
    demo: "open",
    description:
      "Registration of users: `open` to anyone; `invite`: only with an invitation; `closed`: accounts are created only on the command line.",
    example: "invite",
  },
  verification: {
    group: "Access",
    schema: choice("required", "off"),
    default: "required",
    description: "Whether an organization must be approved before it can issue invoices.",
    example: "off",
  },
  billing: {
    group: "Access",
    schema: choice("on", "off"),
    default: "off",
    description:
      "Whether an organization needs a subscription to issue invoices, within the limits of its plan.",
    example: "on",
  },
  plansFile: {
    group: "Access",
    schema: path,
    description:
      "Your own plans file, which replaces the shipped `config/plans.yaml` and has the same format.",
    example: "/etc/till/plans.yaml",
  },

  webhookAllowCidrs: {
    group: "Webhooks",
    schema: list(addressRange),
    default: "",
    demo: "127.0.0.1/32",
    description:
      "Private addresses that webhooks may reach, also over plain http. Every organization can send " +
      "requests to them, so list only webhook receivers.",
    example: "10.1.2.0/24",
  },
  webhookRatePerSecond: {
    group: "Webhooks",
    schema: wholeNumber(0, 10_000, "requests"),
    default: "20",
    description:
      "The maximum number of requests per second to one endpoint; further deliveries wait. 0: as fast as the " +
      "endpoint answers. The limit applies per process.",
    example: "100",
  },

  rateLimitScale: {
    group: "Limits",
    schema: decimalNumber(0, 1_000),
    default: "1",
    description:
      "A factor for all request limits. 0 disables them, except the lockout after failed logins. The limits apply per " +
      "process.",
    example: "2.5",
  },
  rateLimitCredentialPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "600",
    description: "Requests per minute with one API key or by one user.",
  },
  rateLimitOrganizationPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "60000",
    description:
      "Requests per minute by all API keys and members of one organization, once the platform has approved it.",
  },
  rateLimitNewOrganizationPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "12000",
    description:
      "Requests per minute by all API keys and members of one organization that is not approved yet.",
  },
  rateLimitCheckoutPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "6000",
    description:
      "Requests per minute for one checkout: its page, the session that an open page polls once per second, and the " +
      "test panel.",
  },
  rateLimitSubmitPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "10",
    description: "Transaction hashes that payers may submit per minute from one address.",
  },
  rateLimitLoginPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "20",
    description: "Login attempts per minute from one address.",
  },
  rateLimitSessionPerMinute: {
    group: "Limits",
    schema: callsPerWindow,
    default: "120",
    description: "Session refreshes and logouts per minute from one address.",
  },
  rateLimitRegistrationPerHour: {
    group: "Limits",
    schema: callsPerWindow,
    default: "10",
    description: "Registrations per hour from one address.",
  },
  walletsPerOrganization: {
    group: "Limits",
    schema: wholeNumber(1, 100_000, "wallets"),
    default: "100",
    description:
      "The maximum number of active wallets of an organization that the platform has approved. Before the approval it is 2, " +
      "and 20 with archived ones. Wallets beyond it stay.",
    example: "500",
  },

  logLevel: {
    group: "Logs and metrics",
    schema: choice(...logLevels),
    default: "info",
    description: "The lowest level that is logged, on standard error.",
    example: "debug",
  },
  logFormat: {
    group: "Logs and metrics",
    schema: choice(...logFormats),
    default: "auto",
    description:
      "The format of log lines: `json`, `text` for people, or `auto`, which is text on a terminal and JSON elsewhere.",
    example: "json",
  },
  logRequests: {
    group: "Logs and metrics",
    schema: yesNo,
    default: "0",
    description:
      "Whether each request is logged at the level info: method, route, status, duration in milliseconds and the client's " +
      "address. Routes contain no ids. With the level debug, requests are always logged.",
    example: "1",
  },
  metricsToken: {
    group: "Logs and metrics",
    schema: secretText("8 to 256 printable characters without spaces", (text) =>
      /^[\x21-\x7e]{8,256}$/.test(text),
    ),
    description:
      "The bearer token that `/metrics` requires. Without it `/metrics` answers only requests from the loopback interface.",
    example: "$(openssl rand -hex 16)",
  },

  organization: {
    group: "Command line",
    schema: oneLine,
    flag: null,
    description:
      "The organization of commands that need one, by its id or name, and of an invoice that a command names by its " +
      "`externalId`. Their flag `--organization` overrides it. Not needed in a store with only one organization. " +
      "Commands about all organizations ignore it.",
    example: "Corner Shop",
  },
});

export type SettingValues = ValuesOf<typeof settings>;

export function isLongEnough(secret: string): boolean {
  return Buffer.byteLength(secret) >= secretBytesMin;
}

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
