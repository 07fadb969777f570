import { perApp } from "../../app.ts";
import { minute, second } from "../../kernel/clock.ts";
import type { EventSink } from "../../http/page.ts";
import { RateLimited } from "../../http/declare/problems.ts";
import { requireCheckout } from "./cache.ts";

/** Maximum numbers of open streams, in each process. A page that is refused polls instead. */
export const streamLimits = { perCheckout: 50, perAddress: 500, total: 2_000 } as const;
type StreamLimits = { readonly [Name in keyof typeof streamLimits]: number };

/** Interval at which the sessions of open streams are compared, in milliseconds; a commit in this process is faster. */
const compareMs = 500;
/** The pause after a comparison is this many times as long, at most `compareMs`, so that many commits cost little. */
const pauseFactor = 4;
const pauseMsMin = 20;
/** Interval of the event that tells the page, and proxies, that the connection is alive, in milliseconds. */
const beatMs = 15 * second;
/** Time after which a refused page may ask again, in seconds. */
const retryAfterSeconds = minute / second;

/** The pages that are open, and what each was last told. */
export interface LiveStreams {
  /**
   * Sends the version of a checkout's session to a page: at once, and after each change. Returns the function that ends
   * it. Ends the stream at once if others have taken its place since `requireRoom`.
   */
  watch(
    checkout: { readonly id: string; readonly version: string },
    address: string,
    sink: EventSink,
  ): () => void;
  /** Refuses with 429 if the limits allow no further stream. */
  requireRoom(checkoutId: string, address: string): void;
  /** Compares the sessions soon, after a commit. */
  compare(): void;
  /** Ends all streams, so that the server can stop. */
  end(): void;
  readonly size: number;
}

interface Watched {
  readonly id: string;
  version: string;
  readonly sinks: Set<EventSink>;
}

/** Creates the registry of open pages. `read` returns the version of a checkout's current session. */
export function createLiveStreams(deps: {
  readonly read: (checkoutId: string) => Promise<string>;
  readonly limits?: StreamLimits;
}): LiveStreams {
  const { read, limits = streamLimits } = deps;
  const watched = new Map<string, Watched>();
  const count = makeStreamCount(limits);
  let isEnded = false;

  const compare = withPauses(() => Promise.all([...watched.values()].map(updateTo(read))));

  function beat(): void {
    for (const entry of watched.values()) sendAll(entry, "beat", "");
  }

  const timers = makeTimers([compare, compareMs], [beat, beatMs]);

  function isFull(checkoutId: string, address: string): boolean {
    const ofCheckout = watched.get(checkoutId)?.sinks.size ?? 0;
    return isEnded || ofCheckout >= limits.perCheckout || count.isFull(address);
  }

  return {
    requireRoom(checkoutId, address) {
      if (!isFull(checkoutId, address)) return;
      throw new RateLimited("Too many streams are open. Poll the checkout instead.", {
        retryAfterSeconds,
      });
    },

    watch({ id, version }, address, sink) {
      if (isFull(id, address)) {
        sink.end();
        return () => undefined;
      }
      const entry = watched.get(id) ?? { id, version, sinks: new Set() };
      watched.set(id, entry);
      entry.sinks.add(sink);
      count.add(address);
      sink.send("session", entry.version);
      timers.start();
      return () => {
        if (!entry.sinks.delete(sink)) return;
        if (entry.sinks.size === 0) watched.delete(id);
        count.remove(address);
        if (count.total === 0) timers.stop();
      };
    },

    compare,

    end() {
      isEnded = true;
      timers.stop();
      for (const { sinks } of watched.values()) {
        for (const sink of sinks) sink.end();
      }
    },

    get size() {
      return count.total;
    },
  };
}

/** Returns the registry of the pages that the process has open. */
export const liveStreamsOf = perApp((app) =>
  createLiveStreams({
    read: async (checkoutId) => (await requireCheckout(app, checkoutId)).version(),
  }),
);

/** Returns the function that reads the version of an open page again, and tells the page if it changed. */
function updateTo(
  read: (checkoutId: string) => Promise<string>,
): (entry: Watched) => Promise<void> {
  return async (entry) => {
    let version: string;
    try {
      version = await read(entry.id);
    } catch {
      // The store is unavailable. The page learns of it when it reads its own session.
      return;
    }
    if (version === entry.version) return;
    entry.version = version;
    sendAll(entry, "session", version);
  };
}

function sendAll({ sinks }: Watched, event: string, data: string): void {
  for (const sink of sinks) sink.send(event, data);
}

/**
 * Returns a function that compares, and pauses after it. If it is called during a comparison or its pause, it compares
 * once more after the pause.
 */
function withPauses(compare: () => Promise<unknown>): () => void {
  let isComparing = false;
  let isWanted = false;

  async function run(): Promise<void> {
    const startedAt = performance.now();
    await compare();
    const lengthMs = performance.now() - startedAt;
    const pauseMs = Math.min(compareMs, Math.max(pauseMsMin, pauseFactor * lengthMs));
    setTimeout(() => {
      isComparing = false;
      if (isWanted) start();
    }, pauseMs).unref();
  }

  function start(): void {
    isWanted = isComparing;
    if (isComparing) return;
    isComparing = true;
    void run();
  }

  return start;
}

/** Calls functions at intervals in milliseconds, from `start` to `stop`. */
function makeTimers(...calls: readonly (readonly [() => void, number])[]) {
  let timers: readonly NodeJS.Timeout[] = [];
  return {
    start(): void {
      if (timers.length > 0) return;
      timers = calls.map(([call, everyMs]) => setInterval(call, everyMs).unref());
    },
    stop(): void {
      timers.forEach(clearInterval);
      timers = [];
    },
  };
}

/** Counts the open streams, in all and of each client address. */
function makeStreamCount(limits: StreamLimits) {
  const perAddress = new Map<string, number>();
  let total = 0;
  return {
    get total() {
      return total;
    },
    isFull: (address: string) =>
      total >= limits.total || (perAddress.get(address) ?? 0) >= limits.perAddress,
    add(address: string) {
      total += 1;
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
    },
    remove(address: string) {
      total -= 1;
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left > 0) perAddress.set(address, left);
      else perAddress.delete(address);
    },
  };
}
