import { setTimeout as delay } from "node:timers/promises";

/**
 * Notices that the server accepts statements and answers none: a machine that is paused, or unplugged without a word.
 * Waiting statements are then given up instead of waiting for their timeout, and new ones are refused until the server
 * answers again.
 */
export interface Pulse {
  /** Waits for the answer to a statement. `giveUp` makes it fail. */
  during<T>(answer: Promise<T>, giveUp: () => void): Promise<T>;
  isSilent(): boolean;
  /** Asks the server no more. Called once nothing waits. */
  stop(): void;
}

/** Times in milliseconds. */
export interface PulseLimits {
  /** After this time without any answer the server is asked for a new connection. */
  readonly quietMs: number;
  /** The time that the server has for the new connection, or for any other answer. */
  readonly probeMs: number;
  readonly checkMs: number;
  /** If the time for the probe ends later than this, this process itself was paused, and the probe proves nothing. */
  readonly lateMs: number;
}

/** Together less than the five seconds after which callers expect an answer. */
const defaultLimits: PulseLimits = { quietMs: 1_000, probeMs: 3_000, checkMs: 250, lateMs: 500 };

/**
 * @param probe opens and ends a connection; returns false if the server cannot be reached. A slow statement proves
 * nothing, because it may wait for a lock.
 */
export function makePulse(probe: () => Promise<boolean>, limits = defaultLimits): Pulse {
  const waiting = new Set<() => void>();
  let answeredAt = 0;
  let isSilent = false;
  let isProbing = false;
  let checking: NodeJS.Timeout | null = null;

  function answered(): void {
    answeredAt = performance.now();
    isSilent = false;
  }

  async function ask(): Promise<void> {
    const askedAt = performance.now();
    const timeout = delay(limits.probeMs, false, { ref: false });
    // A network that is down for a moment loses nothing, so the time is waited for.
    const probed = probe().then(
      (isReached) => isReached || timeout,
      () => true,
    );
    const isAnswered = await Promise.race([probed, timeout]);
    if (isAnswered) answered();
    const isLate = performance.now() - askedAt > limits.probeMs + limits.lateMs;
    // Answers that have arrived while this process was busy are read first.
    await new Promise(setImmediate);
    if (answeredAt >= askedAt || isLate) return;
    isSilent = true;
    for (const giveUp of waiting) giveUp();
  }

  function stop(): void {
    if (checking !== null) clearInterval(checking);
    checking = null;
  }

  function check(): void {
    if (waiting.size === 0 && !isSilent) {
      stop();
      return;
    }
    if (isProbing || performance.now() - answeredAt < limits.quietMs) return;
    isProbing = true;
    void ask().finally(() => {
      isProbing = false;
    });
  }

  return {
    isSilent: () => isSilent,
    stop,
    async during(answer, giveUp) {
      if (waiting.size === 0 && !isSilent) answeredAt = performance.now();
      checking ??= setInterval(check, limits.checkMs).unref();
      waiting.add(giveUp);
      try {
        const result = await answer;
        answered();
        return result;
      } finally {
        waiting.delete(giveUp);
      }
    },
  };
}
