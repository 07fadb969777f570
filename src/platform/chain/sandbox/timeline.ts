import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Instant } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Head } from "../client.ts";
import type { ForkRow, SegmentRow } from "./table.ts";

/** The highest block that there is at a moment, by the newest segment. Block 0 is there at any time. */
export function tipAt(newest: SegmentRow, now: Instant): number {
  const { fromHeight, lastHeight, time, stepMs } = newest;
  if (lastHeight !== null) return lastHeight;
  if (now < time) return Math.max(0, fromHeight - 1);
  return fromHeight + Math.floor((now - time) / stepMs);
}

/** The time of a block that the segment holds. */
export function blockTime(segment: SegmentRow, height: number): Instant {
  return segment.time + (height - segment.fromHeight) * segment.stepMs;
}

/**
 * Blocks made on command, the last of them now; the others lie evenly between the tip and now. Should the clock have
 * gone back, time stands still in them.
 */
export function minedSegment(tip: Head, count: number, now: Instant): SegmentRow {
  const stepMs = Math.floor(Math.max(0, now - tip.time) / count);
  return {
    fromHeight: tip.height + 1,
    lastHeight: tip.height + count,
    time: Math.max(now, tip.time) - (count - 1) * stepMs,
    stepMs,
  };
}

/** Blocks that come by themselves, the first of them one step after the tip or after now. */
export function openSegment(tip: Head, stepMs: number, now: Instant): SegmentRow {
  return {
    fromHeight: tip.height + 1,
    lastHeight: null,
    time: Math.max(now, tip.time) + stepMs,
    stepMs,
  };
}

/** The block at a height, by the segments and forks from there on, each in rising order. */
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
