import * as z from "zod";
import type { Network, NetworkProvider } from "../chain/networks.ts";
import type { ProviderEndpoint } from "../chain/providers/member.ts";
import {
  InvalidValue,
  list,
  maskSecret,
  maskUrl,
  providerUrl,
  wholeNumber,
  worded,
} from "./setting.ts";
import { isMapping } from "./sources.ts";
import { parseUrl } from "../../kernel/url.ts";

/** The request limit for a provider that is not in the table, per second: it may be the operator's own node. */
const ownRequestsPerSecond = 200;

/** Configured headers: for all providers, or for one that is named by its URL or host. */
export interface ProviderHeaders {
  readonly all: Readonly<Record<string, string>>;
  readonly byProvider: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The headers that HTTP sets on every request. */
const ownHeaders = ["host", "connection", "content-length", "content-type", "transfer-encoding"];

const headersExample = '{"TRON-PRO-API-KEY":"…"}';
const headersTake = `a JSON object of headers such as ${headersExample}`;

const headersSchema = z
  .preprocess(
    asObject,
    z.custom<Readonly<Record<string, unknown>>>(isMapping, { error: `must be ${headersTake}` }),
  )
  .transform((entries): ProviderHeaders => {
    const all: Record<string, string> = {};
    const byProvider: Record<string, Readonly<Record<string, string>>> = {};
    for (const [name, value] of Object.entries(entries)) {
      if (isMapping(value)) byProvider[name] = readHeaders(value);
      else Object.assign(all, readHeaders({ [name]: value }));
    }
    return { all, byProvider };
  });
const providerHeaders = worded(headersSchema, {
  takes: headersTake,
  placeholder: "json",
  isSecret: true,
  show({ all, byProvider }: ProviderHeaders) {
    const shown = Object.entries(byProvider).map(([provider, headers]) => {
      return [parseUrl(provider) === null ? provider : maskUrl(provider), names(headers)];
    });
    return JSON.stringify({ ...names(all), ...(Object.fromEntries(shown) as object) });
  },
});

function asObject(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    return null;
  }
}

function readHeaders(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i.test(name)) {
      throw new InvalidValue(
        `must be ${headersTake}: ${JSON.stringify(name)} is not a header name`,
      );
    }
    if (ownHeaders.includes(name.toLowerCase())) {
      throw new InvalidValue(`must not set ${name}, which HTTP sets on every request`);
    }
    if (typeof value !== "string" || !/^[\x20-\x7e]{1,4096}$/.test(value)) {
      throw new InvalidValue(`must set ${name} to printable ASCII text`);
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

/** A setting that exists once per network. */
export interface NetworkSetting<T> {
  /** The key below the network's entry in till.yaml. */
  readonly name: string;
  /** The suffix of its environment variable: TILL_TRON_RPC_URLS. */
  readonly envSuffix: string;
  readonly schema: z.ZodType<T>;
  /** True if it concerns providers, which a simulated network does not have. */
  readonly isForProviders: boolean;
  readonly description: string;
  readonly example: string;
}

export const networkSettings = {
  rpcUrls: {
    name: "rpcUrls",
    envSuffix: "RPC_URLS",
    schema: list(providerUrl, 1),
    isForProviders: true,
    description:
      "The URLs of the network's providers, in order of preference; they replace those of the network table. With two " +
      "or more, one is checked against another.",
    example: "https://node-1.internal:8545,https://rpc.example.com/v1/KEY",
  } satisfies NetworkSetting<readonly string[]>,
  rpcHeaders: {
    name: "rpcHeaders",
    envSuffix: "RPC_HEADERS",
    schema: providerHeaders,
    isForProviders: true,
    description:
      "Headers for the providers, as a JSON object: a name with its value applies to all providers; below a provider's " +
      "host or URL, to that one only. A provider of the table receives only the headers that the table lists for it.",
    example: headersExample,
  } satisfies NetworkSetting<ProviderHeaders>,
  confirmations: {
    name: "confirmations",
    envSuffix: "CONFIRMATIONS",
    schema: wholeNumber(1, 10_000, "blocks"),
    isForProviders: false,
    description:
      "The number of blocks that confirm a payment, including the block that contains it.",
    example: "20",
  } satisfies NetworkSetting<number>,
  pollMs: {
    name: "pollMs",
    envSuffix: "POLL_MS",
    schema: wholeNumber(10, 3_600_000, "milliseconds"),
    isForProviders: false,
    description: "Poll interval for new blocks, in milliseconds.",
    example: "2000",
  } satisfies NetworkSetting<number>,
};

/** Returns the settings that apply to a network. */
export function settingsOf(network: Network): readonly NetworkSetting<unknown>[] {
  const all = Object.values(networkSettings) as readonly NetworkSetting<unknown>[];
  return all.filter((setting) => !(setting.isForProviders && network.kind.isSimulated));
}

export function networkVariable(networkId: string, setting: { envSuffix: string }): string {
  return `TILL_${networkId.toUpperCase()}_${setting.envSuffix}`;
}

/**
 * Returns a network's providers, from the settings or else from the table, each with its headers.
 * @throws InvalidValue for a header that no provider receives, because the key that it carries was meant for one
 */
export function joinProviders(
  network: Network,
  urls: readonly string[] | null,
  headers: ProviderHeaders,
): ProviderEndpoint[] {
  const known = network.providers;
  const providers = (urls ?? known.map(({ url }) => url)).map((url): ProviderEndpoint => {
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
    throw new InvalidValue(`sets ${lost}, which no provider in the network table accepts`);
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
