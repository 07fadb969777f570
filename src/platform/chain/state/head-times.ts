import { hour, minute, toIso, type Instant } from "../../../kernel/clock.ts";
import type { Heads, KnownChain } from "../client.ts";

/**
 * The minimum age at which a scanned final block's time is recorded, relative to the clock. The newest block of an
 * honest provider is therefore never before it, even if the provider that reported the time lied.
 */
export const ancestorAgeMs = minute;

/** The most by which a time of one of several providers may be wrong without excluding the others, in milliseconds. */
const disputedMs = hour;

/**
 * Returns by how much a block's time may be before the one that a provider gave to an ancestor, in milliseconds. If there
 * are several providers, none proves a time alone, and on a chain whose times are behind the clock a wrong one, as late as
 * now, would exclude all honest providers.
 */
export function ancestorSlackMs(providers: number): number {
  return providers > 1 ? disputedMs : 0;
}

/**
 * The most by which a block's time may be ahead of this server's clock. The clocks of honest nodes differ by seconds.
 */
export const aheadMaxMs = 10 * minute;

/** Why times cannot be true. */
interface TimeFault {
  /** The same for as long as the fault lasts, so that it is said once. */
  readonly reason: string;
  /** The blocks and times, for the log. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Returns the reason why the times of a provider's heads cannot be true, or null: they are ahead of the clock by more
 * than `aheadMaxMs`, or behind the time of a known ancestor. Block times never decrease along one chain. `providers` is
 * the number of the network's providers.
 */
export function headTimeFault(
  { latest, finalized, known }: Heads,
  now: Instant,
  scanned: KnownChain | undefined,
  providers: number,
): TimeFault | null {
  const newest = { blockHeight: latest.height, blockTime: isoOf(latest.time) };
  if (latest.time > now + aheadMaxMs) {
    return {
      reason:
        `the time of its newest block is more than ${String(aheadMaxMs / minute)} minutes ahead of ` +
        "this server's clock: one of the two is wrong",
      details: { ...newest, serverTime: toIso(now) },
    };
  }
  if (finalized.time > latest.time) {
    return {
      reason: "its final block is newer than its newest one",
      details: { ...newest, finalTime: isoOf(finalized.time) },
    };
  }
  // On another fork, the scanned block is not an ancestor.
  if (scanned === undefined || known?.hash !== scanned.final.hash) return null;
  const { height } = scanned.final;
  const ancestorTime = Math.max(scanned.final.time - ancestorSlackMs(providers), known.time);
  const isBelow = finalized.height >= height && finalized.time < known.time;
  if (latest.time >= ancestorTime && !isBelow) return null;
  const [newer, older] = isBelow ? [finalized, known.time] : [latest, ancestorTime];
  return {
    reason: `the time of its ${isBelow ? "final" : "newest"} block is before that of a block on which it is built`,
    details: {
      blockHeight: newer.height,
      blockTime: isoOf(newer.time),
      ancestorHeight: height,
      ancestorTime: isoOf(older),
    },
  };
}

/** Formats a time. A provider may return a number that is not a valid date. */
function isoOf(time: Instant): string {
  return Math.abs(time) <= 8.64e15 ? toIso(time) : `${String(time)} ms`;
}
