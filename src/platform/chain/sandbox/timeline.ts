import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { second, type Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Head } from "../client.ts";
import type { ForkRow, SegmentRow } from "./store.ts";

/** Returns the height of the tip at a time, by the newest segment. Block 0 always exists. */
export function tipAt(newest: SegmentRow, now: Instant): number {
  const { fromHeight, lastHeight, time, stepMs } = newest;
  if (lastHeight !== null) return lastHeight;
  if (now < time) return Math.max(0, fromHeight - 1);
  return fromHeight + Math.floor((now - time) / stepMs);
}

/** Returns the time of a block that the segment contains. */
export function blockTime(segment: SegmentRow, height: number): Instant {
  return segment.time + (height - segment.fromHeight) * segment.stepMs;
}

/**
 * The longest time over which blocks of one command are spread, in milliseconds. The first of them includes transactions
 * that were sent just before. It must not be older than the invoices that these pay, less the tolerance for the clocks of
 * chains, which is a minute.
 */
const minedSpanMaxMs = 30 * second;

/**
 * Makes a segment of blocks on command. The last one is as of now, and the others are evenly spaced before it, after the
 * tip. If the clock was set back, all of them get the tip's time.
 */
export function minedSegment(tip: Head, count: number, now: Instant): SegmentRow {
  const spanMs = Math.min(Math.max(0, now - tip.time), minedSpanMaxMs);
  const stepMs = Math.floor(spanMs / count);
  return {
    fromHeight: tip.height + 1,
    lastHeight: tip.height + count,
    time: Math.max(now, tip.time) - (count - 1) * stepMs,
    stepMs,
  };
}

/** Makes a segment whose blocks appear with time, the first of them one step after the tip or after now. */
export function openSegment(tip: Head, stepMs: number, now: Instant): SegmentRow {
  return {
    fromHeight: tip.height + 1,
    lastHeight: null,
    time: Math.max(now, tip.time) + stepMs,
    stepMs,
  };
}

/** Returns the block at a height, by the segments and forks from there on, each in ascending order. */
export function blockAt(
  segments: readonly SegmentRow[],
  forks: readonly ForkRow[],
  height: number,
): Head {
  const segment = segments.findLast(({ fromHeight }) => fromHeight <= height);
  const fork = forks.findLast(({ fromHeight }) => fromHeight <= height);
  if (segment === undefined || fork === undefined) {
    throw new Defect(`the sandbox has no block ${String(height)}`);
  }
  return { height, hash: blockHash(height, fork.salt), time: blockTime(segment, height) };
}

function blockHash(height: number, salt: string): string {
  return bytesToHex(sha256(utf8ToBytes(`${salt}:${String(height)}`)));
}
