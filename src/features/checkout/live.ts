import { minute, second } from "../../kernel/clock.ts";
import { canonicalJson } from "../../kernel/canonical-json.ts";
import { digest } from "../../kernel/digest.ts";
import type { EventSink } from "../../api/event-stream.ts";
import { RateLimited } from "../../api/declare/problems.ts";
import type { CheckoutSession } from "./present.ts";

/** Maximum numbers of open streams, in each process. A page that is refused polls instead. */
export const streamLimits = { perCheckout: 50, perAddress: 500, total: 2_000 } as const;

/** Interval at which the sessions of open streams are compared, in milliseconds; a commit in this process is faster. */
const lookMs = 500;
/** The pause after a comparison is this many times as long, at most `lookMs`, so that many commits cost little. */
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
  watch(session: CheckoutSession, address: string, sink: EventSink): () => void;
  /** Refuses with 429 if the limits allow no further stream. */
  requireRoom(checkoutId: string, address: string): void;
  /** Compares the sessions soon, after a commit. */
  look(): void;
  /** Ends all streams, so that the server can stop. */
  end(): void;
  readonly size: number;
}

interface Watched {
  session: CheckoutSession;
  version: string;
  readonly sinks: Set<EventSink>;
}

const versions = new WeakMap<CheckoutSession, string>();

/** Returns a text that changes with the session. The page holds the version that it shows. */
export function versionOf(session: CheckoutSession): string {
  const known = versions.get(session) ?? digest(canonicalJson(session)).slice(0, 16);
  versions.set(session, known);
  return known;
}

/** Creates the registry of open pages. `read` returns a checkout's current session. */
export function createLiveStreams(deps: {
  readonly read: (checkoutId: string) => Promise<CheckoutSession>;
  readonly limits?: { readonly [Name in keyof typeof streamLimits]: number };
}): LiveStreams {
  const { read, limits = streamLimits } = deps;
  const watched = new Map<string, Watched>();
  const perAddress = new Map<string, number>();
  let total = 0;
  let isEnded = false;
  let timers: readonly NodeJS.Timeout[] = [];
  let isLooking = false;
  let isWanted = false;

  async function update(checkoutId: string, entry: Watched): Promise<void> {
    let session: CheckoutSession;
    try {
      session = await read(checkoutId);
    } catch {
      // The store is unavailable. The page learns of it when it reads its own session.
      return;
    }
    if (session === entry.session) return;
    entry.session = session;
    const version = versionOf(session);
    if (version === entry.version) return;
    entry.version = version;
    for (const sink of entry.sinks) sink.send("session", version);
  }

  /** Compares all sessions. Commits during it, or in the pause after it, cause another one after the pause. */
  async function compare(): Promise<void> {
    const startedAt = performance.now();
    await Promise.all([...watched].map(([checkoutId, entry]) => update(checkoutId, entry)));
    const lengthMs = performance.now() - startedAt;
    const pauseMs = Math.min(lookMs, Math.max(pauseMsMin, pauseFactor * lengthMs));
    setTimeout(() => {
      isLooking = false;
      if (isWanted) look();
    }, pauseMs).unref();
  }

  function look(): void {
    isWanted = isLooking && watched.size > 0;
    if (isLooking || watched.size === 0) return;
    isLooking = true;
    void compare();
  }

  function beat(): void {
    for (const { sinks } of watched.values()) {
      for (const sink of sinks) sink.send("beat", "");
    }
  }

  function startTimers(): void {
    if (timers.length > 0) return;
    timers = [setInterval(look, lookMs).unref(), setInterval(beat, beatMs).unref()];
  }

  function stopTimers(): void {
    timers.forEach(clearInterval);
    timers = [];
  }

  function isFull(checkoutId: string, address: string): boolean {
    return (
      isEnded ||
      total >= limits.total ||
      (perAddress.get(address) ?? 0) >= limits.perAddress ||
      (watched.get(checkoutId)?.sinks.size ?? 0) >= limits.perCheckout
    );
  }

  function requireRoom(checkoutId: string, address: string): void {
    if (isFull(checkoutId, address)) {
      throw new RateLimited("Too many streams are open. Poll the checkout instead.", {
        retryAfterSeconds,
      });
    }
  }

  return {
    requireRoom,

    watch(session, address, sink) {
      if (isFull(session.id, address)) {
        sink.end();
        return () => undefined;
      }
      const version = versionOf(session);
      const entry = watched.get(session.id) ?? { session, version, sinks: new Set() };
      watched.set(session.id, entry);
      entry.sinks.add(sink);
      total += 1;
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
      sink.send("session", entry.version);
      startTimers();
      return () => {
        if (!entry.sinks.delete(sink)) return;
        if (entry.sinks.size === 0) watched.delete(session.id);
        total -= 1;
        const left = (perAddress.get(address) ?? 1) - 1;
        if (left > 0) perAddress.set(address, left);
        else perAddress.delete(address);
        if (total === 0) stopTimers();
      };
    },

    look,

    end() {
      isEnded = true;
      stopTimers();
      for (const { sinks } of watched.values()) {
        for (const sink of sinks) sink.end();
      }
    },

    get size() {
      return total;
    },
  };
}
