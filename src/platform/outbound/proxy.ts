import { parseUrl } from "../../kernel/url.ts";
import { judgeAddress, parseRange, type AddressRange } from "./address.ts";

/**
 * The proxy for requests to providers and rate sources, from the usual variables. Webhooks never use it: their guard
 * against private addresses checks the address to which Till itself connects.
 */
export interface ProxySettings {
  /** The URLs may contain credentials, which are never shown. */
  readonly http: string | null;
  readonly https: string | null;
  /** The hosts and ranges of addresses that are reached directly, separated by commas; `*`: all. */
  readonly except: string;
}

/** The hosts that no proxy can reach in Till's place. */
const ownHosts = "localhost,127.0.0.1,[::1]";

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY; of each, the variable in lower case counts first. A URL for both schemes
 * is HTTP_PROXY alone. `report` is called for a URL that cannot be used.
 */
export function readProxySettings(
  env: Readonly<Record<string, string | undefined>>,
  report: (name: string, message: string) => void,
): ProxySettings {
  function read(name: string): string | null {
    const used = [name.toLowerCase(), name].find((each) => (env[each] ?? "").trim() !== "");
    if (used === undefined) return null;
    const text = (env[used] ?? "").trim();
    const url = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
    report(used, "must be the http:// or https:// URL of a proxy, such as http://proxy:3128");
    return null;
  }
  const http = read("HTTP_PROXY");
  const https = read("HTTPS_PROXY") ?? http;
  const except = env["no_proxy"] ?? env["NO_PROXY"] ?? "";
  return { http, https, except: except.split(/[\s,]+/).includes("*") ? "*" : except.trim() };
}

/** Says how providers and rate sources are reached, without credentials. */
export function describeWayOut({ http, https, except }: ProxySettings): string {
  if ((http === null && https === null) || except === "*") {
    return "Providers and rate sources are reached without a proxy.";
  }
  const originOf = (proxy: string) => new URL(proxy).origin;
  const ways = [
    ...(https === null ? [] : [`https:// through ${originOf(https)}`]),
    http === null ? "http:// without a proxy" : `http:// through ${originOf(http)}`,
  ];
  const direct = except === "" ? "" : `, except the hosts in NO_PROXY: ${except}`;
  return `Providers and rate sources are reached by ${ways.join(", ")}${direct}. Webhooks use no proxy.`;
}

/** A `fetch` of a URL with a part of the usual options. */
type Fetching<Init> = (url: string, init: Init) => ReturnType<typeof fetch>;

/** Returns the `fetch` for providers and rate sources: through the proxy if one is set, else Node's own. */
export function makeOutwardFetch<Init extends RequestInit>({
  http,
  https,
  except,
}: ProxySettings): Fetching<Init> {
  if (http === null && https === null) return fetch;
  // The proxy agent compares names alone.
  const ranges = rangesOf(except);
  let loaded: Promise<Fetching<RequestInit>> | null = null;

  /** Node's own fetch cannot be given a proxy. */
  async function load(): Promise<Fetching<RequestInit>> {
    const undici = await import("undici");
    const dispatcher = new undici.EnvHttpProxyAgent({
      httpProxy: http ?? "",
      httpsProxy: https ?? "",
      noProxy: except === "*" ? except : `${except},${ownHosts}`,
    });
    const through = undici.fetch as unknown as Fetching<object>;
    return (url, init) => through(url, { ...init, dispatcher });
  }

  return async (url, init) => {
    const host = parseUrl(url)?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
    if (judgeAddress(host, ranges).verdict === "listed") return fetch(url, init);
    loaded ??= load();
    const through = await loaded;
    return through(url, init).catch((error: unknown) => {
      const status = proxyStatus(error);
      if (status === null) throw error;
      throw new Error("the proxy refused", {
        cause: { code: `the proxy answered HTTP ${status}` },
      });
    });
  };
}

/** Returns the ranges among the hosts of NO_PROXY, such as `10.0.0.0/8`. */
function rangesOf(except: string): AddressRange[] {
  return except.split(/[\s,]+/).flatMap((entry) => {
    try {
      return entry.includes("/") ? [parseRange(entry)] : [];
    } catch {
      return [];
    }
  });
}

/** Returns the status with which a proxy refused to connect; null for another error. */
function proxyStatus(error: unknown): string | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    const [, status] = /Proxy response \((\d{3})\)/.exec(each.message) ?? [];
    if (status !== undefined) return status;
  }
  return null;
}
