import { minute, toIso, type Instant } from "../../kernel/clock.ts";
import type { Heads, KnownChain } from "./client.ts";

/**
 * A scanned final block counts as so much older than the clock at least: the newest block of an honest provider is never
 * before it, even where the provider that told of it lied about its time.
 */
export const ancestorAgeMs = minute;

/** How far a block's time may lie ahead of this machine's clock. Clocks of honest nodes differ by seconds. */
export const aheadMaxMs = 10 * minute;

/**
 * Returns why the times of a provider's heads cannot be true, null where they can: ahead of the clock by more than
 * `aheadMaxMs`, or behind the time of a known ancestor. Block times never decrease along one chain.
 */
export function headTimeFault(
  { latest, finalized, known }: Heads,
  now: Instant,
  scanned: KnownChain | undefined,
): string | null {
  if (latest.time > now + aheadMaxMs) {
    const ahead = Math.round((latest.time - now) / minute);
    return (
      `the time of its newest block, ${isoOf(latest.time)}, is ${String(ahead)} minutes ahead of this ` +
      "server's clock: one of the two is wrong"
    );
  }
  if (finalized.time > latest.time) return "its final block is newer than its newest one";
  // On another fork the scanned block is no ancestor.
  if (scanned === undefined || known?.hash !== scanned.final.hash) return null;
  const { height } = scanned.final;
  const ancestorTime = Math.max(scanned.final.time, known.time);
  const isBelow = finalized.height >= height && finalized.time < known.time;
  if (latest.time >= ancestorTime && !isBelow) return null;
  const [newer, older] = isBelow ? [finalized, known.time] : [latest, ancestorTime];
  return (
    `the time of block ${String(newer.height)}, ${isoOf(newer.time)}, is before that of block ` +
    `${String(height)}, ${isoOf(older)}, on which it is built`
  );
}

/** A provider may name a time that no calendar has. */
function isoOf(time: Instant): string {
  return Math.abs(time) <= 8.64e15 ? toIso(time) : `${String(time)} ms`;
}
