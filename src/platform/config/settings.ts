import { logLevels } from "../logger/levels.ts";
import type { ValuesOf } from "./setting.ts";
import { declareSettings, optional, required } from "./setting.ts";
import {
  addressRange,
  baseUrl,
  choice,
  databaseUrl,
  decimalNumber,
  hostName,
  list,
  networkId,
  path,
  secretText,
  wholeNumber,
  yesNo,
} from "./value-type.ts";

/** The shortest secret that is taken, in bytes. */
export const secretBytesMin = 32;
const callsPerWindow = wholeNumber(1, 1_000_000, "requests");

/** Every setting but those that each network has; docs/settings.md is made from this. */
export const settings = declareSettings({
  configFile: optional({
    group: "Store and secrets",
    type: path,
    flag: "--config",
    inFile: false,
    description:
      "The file of settings. Without it `till.yaml` in the data folder is read, where there is one.",
    example: "/etc/till/till.yaml",
  }),
  dataDir: required({
    group: "Store and secrets",
    type: path,
    default: "./data",
    description:
      "The folder of the store, the secrets and the backups. It is made where it is missing, for its owner alone. A " +
      "file of settings that lies in it cannot name it.",
    example: "/var/lib/till",
  }),
  databaseUrl: optional({
    group: "Store and secrets",
    type: databaseUrl,
    env: "DATABASE_URL",
    ignoredInDemo: true,
    description:
      "The PostgreSQL database that keeps everything. Without it the store is a SQLite file in the data folder. The " +
      "demo never uses it.",
    example: "postgres://till:password@db.internal:5432/till",
  }),
  databasePoolMax: required({
    group: "Store and secrets",
    type: wholeNumber(1, 500, "connections"),
    default: "10",
    description: "How many connections to PostgreSQL this process opens at most.",
    example: "20",
  }),
  secret: optional({
    group: "Store and secrets",
    type: secretText(`text of at least ${String(secretBytesMin)} bytes`, isLongEnough),
    description:
      "What signatures and encryption keys are derived from: the same for every process on a store, and kept as long " +
      "as the store. Without it one is made in the data folder on first start; a store on PostgreSQL needs it given.",
    example: "$(openssl rand -base64 32)",
  }),
  secretFile: optional({
    group: "Store and secrets",
    type: path,
    description: "A file that holds the secret instead; a line end behind it does not count.",
    example: "/run/secrets/till",
  }),

  host: required({
    group: "Server",
    type: hostName,
    default: "127.0.0.1",
    description: "The address that the server listens on; `0.0.0.0` for all of the machine's.",
    example: "0.0.0.0",
  }),
  port: required({
    group: "Server",
    type: wholeNumber(0, 65_535),
    default: "8080",
    description: "The port that the server listens on; 0 takes a free one.",
    example: "8443",
  }),
  baseUrl: optional({
    group: "Server",
    type: baseUrl,
    description:
      "What the links that Till hands out begin with: the address at which payers reach it. Without it, where the " +
      "server listens.",
    example: "https://pay.example.com",
  }),
  trustProxy: required({
    group: "Server",
    type: list(addressRange),
    default: "",
    description:
      "The proxies whose word on a client's address is believed. Without it the address of the connection counts.",
    example: "127.0.0.1,10.0.0.0/8",
  }),

  networks: required({
    group: "Networks",
    type: list(networkId, 1),
    default: "tron",
    demo: "sandbox",
    description: "The networks that are on, by their ids in the network table.",
    example: "tron,ethereum",
  }),
  networksFile: optional({
    group: "Networks",
    type: path,
    description:
      "A network table of your own, in the form of the one that comes with Till in `config/networks.yaml` and in its " +
      "place.",
    example: "/etc/till/networks.yaml",
  }),
  rates: required({
    group: "Networks",
    type: choice("on", "off"),
    default: "on",
    demo: "off",
    description:
      "Whether the sources of exchange rates are asked. `off`: nobody is asked, only the fixed rates of the file " +
      "count, and an invoice in another currency is refused.",
    example: "off",
  }),
  ratesFile: optional({
    group: "Networks",
    type: path,
    description:
      "Exchange rates of your own, in the form of the file that comes with Till in `config/rates.yaml` and in its " +
      "place. That one asks three public sources for ten currencies; the demo's has fixed sample rates for them.",
    example: "/etc/till/rates.yaml",
  }),
  sandboxBlockMs: required({
    group: "Networks",
    type: wholeNumber(0, 3_600_000, "milliseconds"),
    default: "1000",
    description: "How often the sandbox makes a block; 0: on command only.",
    example: "200",
  }),
  sandboxMixed: required({
    group: "Networks",
    type: yesNo,
    default: "0",
    description:
      "Lets the sandbox stand beside real networks. Money is free on the sandbox: nothing that was paid there is worth " +
      "anything.",
    example: "1",
  }),

  registration: required({
    group: "Access",
    type: choice("open", "invite", "closed"),
    default: "closed",
    demo: "open",
    description:
      "Who may register: everybody, who holds an invitation, or nobody, so that accounts are made at the command line.",
    example: "invite",
  }),
  verification: required({
    group: "Access",
    type: choice("required", "off"),
    default: "required",
    description: "Whether an organization must be approved before it issues invoices.",
    example: "off",
  }),
  billing: required({
    group: "Access",
    type: choice("on", "off"),
    default: "off",
    description: "Whether an organization needs a subscription to issue invoices, within its plan.",
    example: "on",
  }),
  plansFile: optional({
    group: "Access",
    type: path,
    description:
      "Plans of your own, in the form of those that come with Till in `config/plans.yaml` and in their place.",
    example: "/etc/till/plans.yaml",
  }),

  webhookAllowCidrs: required({
    group: "Webhooks",
    type: list(addressRange),
    default: "",
    demo: "127.0.0.1/32",
    description:
      "Private addresses that webhooks may reach, and where plain http is allowed. Every organization can send " +
      "requests there: list only receivers.",
    example: "10.1.2.0/24",
  }),
  webhookRatePerSecond: required({
    group: "Webhooks",
    type: wholeNumber(0, 10_000, "requests"),
    default: "20",
    description:
      "Requests a second that one endpoint is sent at most; what is more waits its turn. 0 sends as fast as the " +
      "endpoint answers. Each process counts for itself.",
    example: "100",
  }),

  rateLimitScale: required({
    group: "Limits",
    type: decimalNumber(0, 1_000),
    default: "1",
    description:
      "Multiplies every limit on requests. 0 switches them off; the lock on failed logins stays. Each process " +
      "counts for itself.",
    example: "2.5",
  }),
  rateLimitCredentialPerMinute: required({
    group: "Limits",
    type: callsPerWindow,
    default: "600",
    description: "Requests a minute with one API key or by one user.",
  }),
  rateLimitCheckoutPerMinute: required({
    group: "Limits",
    type: callsPerWindow,
    default: "300",
    description: "Looks at checkouts a minute from one address.",
  }),
  rateLimitSubmitPerMinute: required({
    group: "Limits",
    type: callsPerWindow,
    default: "10",
    description: "Transaction hashes a minute that payers submit from one address.",
  }),
  rateLimitLoginPerMinute: required({
    group: "Limits",
    type: callsPerWindow,
    default: "20",
    description: "Logins a minute from one address.",
  }),
  rateLimitSessionPerMinute: required({
    group: "Limits",
    type: callsPerWindow,
    default: "120",
    description: "Renewals and ends of sessions a minute from one address.",
  }),
  rateLimitRegistrationPerHour: required({
    group: "Limits",
    type: callsPerWindow,
    default: "10",
    description: "Registrations an hour from one address.",
  }),

  logLevel: required({
    group: "Logs and metrics",
    type: choice(...logLevels),
    default: "info",
    description: "The least important lines that are logged, as JSON on standard error.",
    example: "debug",
  }),
  metricsToken: optional({
    group: "Logs and metrics",
    type: secretText("8 to 256 printable characters without spaces", (text) =>
      /^[\x21-\x7e]{8,256}$/.test(text),
    ),
    description:
      "The bearer token that `/metrics` asks for. Without it `/metrics` answers on loopback only.",
    example: "$(openssl rand -hex 16)",
  }),
});

export type SettingValues = ValuesOf<typeof settings>;

export function isLongEnough(secret: string): boolean {
  return Buffer.byteLength(secret) >= secretBytesMin;
}
