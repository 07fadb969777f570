import { lookup, Resolver } from "node:dns/promises";

/** Every IPv4 and IPv6 address of a host name, as text. Rejects, or gives none, when there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface ResolveParts {
  /** Name servers (`127.0.0.1:5353`) to ask instead of the system's. */
  readonly servers?: readonly string[];
  /** How long the first question to a server may take; it is asked once more. */
  readonly timeoutMs?: number;
}

/** The operating system's look-up holds one of the process's four worker threads for as long as it takes. */
const systemLookupsMax = 2;
const queryTimeoutMs = 1_000;
const queryTries = 2;

/**
 * Asks the name servers directly, both families at once, and holds no worker thread while they are slow, so that a dead
 * name server delays nobody else. A name that they do not know (the hosts file's, a container's, a short one) is asked
 * of the operating system, at most two at a time.
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

/** Runs at most `activeMax` of what it is given at once; the others wait in order. */
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
