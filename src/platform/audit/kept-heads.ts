import { toIso } from "../../kernel/clock.ts";
import type { Reader } from "../database/database.ts";
import { events } from "../events/table.ts";
import { parseHead, type ChainHead } from "./chain.ts";

/** A head of the chain that is kept beside the entries. */
export interface KeptHead extends ChainHead {
  /** Completes "the head …" in messages: `of the event evt_… of 2026-…`. */
  readonly source: string;
}

/**
 * The number of newest heads that a verification compares. Events are kept for 90 days, with at most one head per hour.
 */
const announcedMax = 10_000;

/**
 * Returns the heads of the `audit.head` events in the store. An attacker who can write to the store can delete them,
 * but not the copies that webhook receivers have.
 */
export async function announcedHeads(reader: Reader): Promise<readonly KeptHead[]> {
  const rows = await reader.find(
    events,
    `WHERE type = 'audit.head' ORDER BY id DESC LIMIT ${String(announcedMax)}`,
  );
  return rows.flatMap(({ id, payload, occurredAt }) => {
    const head = parseHead(`${String(payload["position"])}:${String(payload["hash"])}`);
    return head === null ? [] : { ...head, source: `of the event ${id} of ${toIso(occurredAt)}` };
  });
}
