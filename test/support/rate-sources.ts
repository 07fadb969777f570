import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const kinds = ["coinbase", "ecb", "er-api"] as const;
export type Kind = (typeof kinds)[number];

/** The behavior of a source. Without `body` it serves the sample of its provider's documentation. */
export interface Behavior {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True to accept requests and never answer. */
  readonly isSilent?: boolean;
}

export interface RateSources {
  /** Writes the shipped rates file with the three providers' hosts replaced by this server, and returns its path. */
  file(): Promise<string>;
  set(kind: Kind, behavior: Behavior): void;
  /** Returns the number of requests to a source since the start. */
  asked(kind: Kind): number;
  /** Returns the headers of the last request. */
  lastHeaders(): Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** The URL of each provider in the shipped file, and the path that the fake server serves instead. */
const hosts: Readonly<Record<Kind, string>> = {
  coinbase: "https://api.coinbase.com",
  ecb: "https://api.frankfurter.dev",
  "er-api": "https://open.er-api.com",
};

/**
 * Returns a response in the documented format of a provider, dated on a day, with the given price of a euro in dollars.
 */
export function sample(kind: Kind, day: string, dollarsPerEuro = 1.1527): string {
  const euro = Number((1 / dollarsPerEuro).toFixed(6));
  const rates = {
    AUD: 1.5463,
    BRL: 5.3395,
    CAD: 1.4096,
    CHF: 0.8082,
    GBP: 0.76325,
    INR: 89.46,
    JPY: 156.72,
    MXN: 18.4571,
    TRY: 42.448,
    ZAR: 17.38,
    EUR: euro,
  };
  switch (kind) {
    case "coinbase": {
      const texts = Object.entries({ ...rates, BTC: "0.0000117", USD: "1" }).map(
        ([code, rate]) => [code, String(rate)] as const,
      );
      return JSON.stringify({ data: { currency: "USD", rates: Object.fromEntries(texts) } });
    }
    case "ecb":
      return JSON.stringify({ amount: 1.0, base: "USD", date: day, rates });
    case "er-api": {
      const at = Date.parse(`${day}T00:02:31Z`);
      return JSON.stringify({
        result: "success",
        provider: "https://www.exchangerate-api.com",
        documentation: "https://www.exchangerate-api.com/docs/free",
        terms_of_use: "https://www.exchangerate-api.com/terms",
        time_last_update_unix: at / 1_000,
        time_last_update_utc: new Date(at).toUTCString(),
        time_next_update_unix: at / 1_000 + 86_400,
        time_next_update_utc: new Date(at + 86_400_000).toUTCString(),
        time_eol_unix: 0,
        base_code: "USD",
        rates: { USD: 1, ...rates },
      });
    }
  }
}

/**
 * Starts the three shipped sources on this machine: each returns its sample, dated on the day of `now`, unless set
 * otherwise.
 */
export async function startRateSources(now: () => number = Date.now): Promise<RateSources> {
  const behaviors = new Map<Kind, Behavior>();
  const counts = new Map<Kind, number>();
  let headers: Readonly<Record<string, unknown>> = {};
  const server: Server = createServer((request, response) => {
    const kind = kinds.find((each) => (request.url ?? "").startsWith(`/${each}/`));
    if (kind === undefined) {
      response.writeHead(404).end();
      return;
    }
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    headers = request.headers;
    const behavior = behaviors.get(kind) ?? {};
    if (behavior.isSilent === true) return;
    const day = new Date(now()).toISOString().slice(0, 10);
    response
      .writeHead(behavior.status ?? 200, {
        "content-type": "application/json",
        ...behavior.headers,
      })
      .end(behavior.body ?? sample(kind, day));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    async file() {
      let text = await readFile(new URL("../../config/rates.yaml", import.meta.url), "utf8");
      for (const kind of kinds) text = text.replace(hosts[kind], `${url}/${kind}`);
      return text;
    },
    set: (kind, behavior) => behaviors.set(kind, behavior),
    asked: (kind) => counts.get(kind) ?? 0,
    lastHeaders: () => headers,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
