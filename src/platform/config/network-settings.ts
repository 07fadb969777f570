import type { Network, NetworkProvider } from "../chain/networks.ts";
import { maskSecret, maskUrl } from "./mask.ts";
import { isMapping } from "./sources.ts";
import type { ValueType } from "./value-type.ts";
import { InvalidValue, list, providerUrl, wholeNumber } from "./value-type.ts";
import { parseUrl } from "../../kernel/url.ts";

/** A node that a network is read from. */
export interface Provider {
  readonly url: string;
  /** Sent with every request; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** How many calls one request may hold. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  readonly requestsPerDay: number | null;
}

/** What a provider that the table does not know is asked at most: it may be a node of one's own. */
const ownRequestsPerSecond = 200;

/** Headers as they are set: for every provider, or for one, named by its URL or host. */
export interface ProviderHeaders {
  readonly all: Readonly<Record<string, string>>;
  readonly byProvider: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What HTTP needs for itself. */
const ownHeaders = ["host", "connection", "content-length", "content-type", "transfer-encoding"];

const headersExample = '{"TRON-PRO-API-KEY":"…"}';
const headersTake = `a JSON object of headers such as ${headersExample}`;

const providerHeaders: ValueType<ProviderHeaders> = {
  takes: headersTake,
  placeholder: "json",
  isSecret: true,
  read(given) {
    const all: Record<string, string> = {};
    const byProvider: Record<string, Readonly<Record<string, string>>> = {};
    for (const [name, value] of Object.entries(asObject(given))) {
      if (isMapping(value)) byProvider[name] = readHeaders(value);
      else Object.assign(all, readHeaders({ [name]: value }));
    }
    return { all, byProvider };
  },
  show({ all, byProvider }) {
    const shown = Object.entries(byProvider).map(([provider, headers]) => {
      return [parseUrl(provider) === null ? provider : maskUrl(provider), names(headers)];
    });
    return JSON.stringify({ ...names(all), ...(Object.fromEntries(shown) as object) });
  },
};

function asObject(given: unknown): Readonly<Record<string, unknown>> {
  let value = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given);
    } catch {
      value = null;
    }
  }
  if (!isMapping(value)) throw new InvalidValue(`must be ${headersTake}`);
  return value;
}

function readHeaders(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name)) {
      throw new InvalidValue(`must be ${headersTake}: ${JSON.stringify(name)} is no header's name`);
    }
    if (ownHeaders.includes(name.toLowerCase())) {
      throw new InvalidValue(`must not set ${name}, which every request sets for itself`);
    }
    if (typeof value !== "string" || !/^[\x20-\x7e]{1,4096}$/.test(value)) {
      throw new InvalidValue(`must give ${name} as text of printable characters`);
    }
    headers[name] = value;
  }
  return headers;
}

function names(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, maskSecret(value)]),
  );
}

/** A setting that each network has of its own. */
export interface NetworkSetting<T> {
  /** Its key below the network's in till.yaml. */
  readonly name: string;
  /** What its variable ends with: TILL_TRON_RPC_URLS. */
  readonly envSuffix: string;
  readonly type: ValueType<T>;
  /** It is about providers, which a test network has none of. */
  readonly isForProviders: boolean;
  readonly description: string;
  readonly example: string;
}

export const networkSettings = {
  rpcUrls: {
    name: "rpcUrls",
    envSuffix: "RPC_URLS",
    type: list(providerUrl, 1),
    isForProviders: true,
    description:
      "The providers to read the network from, in order of preference, in place of the table's. With two or more, one " +
      "is checked against another.",
    example: "https://node-1.internal:8545,https://rpc.example.com/v1/KEY",
  } satisfies NetworkSetting<readonly string[]>,
  rpcHeaders: {
    name: "rpcHeaders",
    envSuffix: "RPC_HEADERS",
    type: providerHeaders,
    isForProviders: true,
    description:
      "Headers for the providers, as JSON: each name with its value, for all of them; or below a provider's host or " +
      "URL, for that one alone. A provider of the table is sent only the headers that the table names for it.",
    example: headersExample,
  } satisfies NetworkSetting<ProviderHeaders>,
  confirmations: {
    name: "confirmations",
    envSuffix: "CONFIRMATIONS",
    type: wholeNumber(1, 10_000, "blocks"),
    isForProviders: false,
    description: "How many blocks, its own counted, confirm a payment.",
    example: "20",
  } satisfies NetworkSetting<number>,
  pollMs: {
    name: "pollMs",
    envSuffix: "POLL_MS",
    type: wholeNumber(10, 3_600_000, "milliseconds"),
    isForProviders: false,
    description: "How often the network is asked for new blocks.",
    example: "2000",
  } satisfies NetworkSetting<number>,
};

/** The settings that a network has. */
export function settingsOf(network: Network): readonly NetworkSetting<unknown>[] {
  const all = Object.values(networkSettings) as readonly NetworkSetting<unknown>[];
  return all.filter((setting) => !(setting.isForProviders && network.isTest));
}

export function networkVariable(networkId: string, setting: { envSuffix: string }): string {
  return `TILL_${networkId.toUpperCase()}_${setting.envSuffix}`;
}

/**
 * The providers of a network: those of the settings, or else of the table, each with its headers. A header that
 * reaches no provider is an InvalidValue, because the key that it carries was meant for one.
 */
export function joinProviders(
  network: Network,
  urls: readonly string[] | null,
  headers: ProviderHeaders,
): Provider[] {
  const known = network.providers;
  const providers = (urls ?? known.map(({ url }) => url)).map((url): Provider & { url: string } => {
    const own = known.find((provider) => hostOf(provider.url) === hostOf(url));
    const shared = urls === null ? accepted(headers.all, own) : headers.all;
    const alone = { ...headers.byProvider[hostOf(url)], ...headers.byProvider[url] };
    const {
      batchMax = 100,
      requestsPerSecond = ownRequestsPerSecond,
      requestsPerDay = null,
    } = own ?? {};
    return { url, headers: { ...shared, ...alone }, batchMax, requestsPerSecond, requestsPerDay };
  });
  const sent = new Set(providers.flatMap((provider) => Object.keys(provider.headers)));
  const lost = Object.keys(headers.all).find((name) => !sent.has(name));
  if (lost !== undefined) {
    throw new InvalidValue(`gives ${lost}, which no provider in the network table takes`);
  }
  const stranger = Object.keys(headers.byProvider).find(
    (name) => !providers.some(({ url }) => name === url || name === hostOf(url)),
  );
  if (stranger !== undefined) {
    const hosts = providers.map(({ url }) => hostOf(url)).join(", ");
    throw new InvalidValue(`has headers for a provider that is not one of ${hosts}`);
  }
  return providers;
}

function accepted(
  headers: Readonly<Record<string, string>>,
  provider: NetworkProvider | undefined,
): Record<string, string> {
  const taken = (provider?.headers ?? []).map((name) => name.toLowerCase());
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => taken.includes(name.toLowerCase())),
  );
}

function hostOf(url: string): string {
  return new URL(url).host;
}
