import { lookup, Resolver } from "node:dns/promises";

/** Returns all IPv4 and IPv6 addresses of a host name as text. Rejects, or returns an empty list, if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolveParts {
  /** Name servers (`127.0.0.1:5353`) that replace the system's. */
  readonly servers?: readonly string[];
  /** The timeout of the first query to a server, in milliseconds; the query is sent twice. */
  readonly timeoutMs?: number;
}

/**
 * The maximum number of concurrent lookups by the operating system; each occupies one of libuv's few worker threads.
 */
const systemLookupsMax = 2;
const queryTimeoutMs = 1_000;
const queryTries = 2;

/**
 * Creates a resolver that queries the name servers directly, both address families at once. It occupies no worker
 * thread, so a slow name server delays nothing else. Names that they do not know (in the hosts file, of containers,
 * short names) are looked up by the operating system, at most two at a time.
 */
export function createResolve({ servers, timeoutMs = queryTimeoutMs }: ResolveParts = {}): Resolve {
  const line = createLine(systemLookupsMax);
  return async (host) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: queryTries });
    if (servers !== undefined) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? answer.value : [],
    );
    if (addresses.length > 0) return addresses;
    const silent = answers.some(
      (answer) => answer.status === "rejected" && errorCode(answer.reason) === "ETIMEOUT",
    );
    if (silent) throw new Error("The name servers did not answer in time.");
    return line(async () => (await lookup(host, { all: true })).map(({ address }) => address));
  };
}

function errorCode(reason: unknown): unknown {
  return reason instanceof Error && "code" in reason ? reason.code : undefined;
}

/** Runs at most `activeMax` tasks at once; the others wait in order of arrival. */
function createLine(activeMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let active = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (active >= activeMax) await new Promise<void>((go) => waiting.push(go));
    else active += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}
