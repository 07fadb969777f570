import { second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import {
  networkState,
  overdueMs,
  type KnownBlock,
  type NetworkState,
} from "../../../platform/chain/state/network-state.ts";
import { integer, text, type RowOf } from "../../../platform/database/schema/table.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import type { holds } from "../table.ts";

/** The newest believed block of a network when an invoice's first hold there was made (docs/decisions/0066). */
export type HoldMark = Pick<
  RowOf<typeof holds>,
  "markHeight" | "markHash" | "markReadAt" | "isMarkRecent"
>;

/** The number of polls within which the newest block must have been read for a recent mark. */
const recentPolls = 3;
/** The least time for it, in milliseconds: a state without a new block is stored every ten seconds only. */
const recentLeastMs = 30 * second;

/** The most marks that are compared with the chain for one batch of transfers in blocks that were read before. */
const marksMax = 100;

/**
 * Returns the mark of a hold that is made now. `state` is null if the network was never read. The mark is recent if the
 * block was the newest one of a scan just before. It is not while the next block is overdue, because a provider that
 * stands still shows an old block as the newest.
 */
export function markAt(
  state: Pick<
    NetworkState,
    "tipHeight" | "tipHash" | "tipSeenAt" | "headHeight" | "scannedAt"
  > | null,
  network: Pick<Network, "pollMs" | "blockTimeMs">,
  at: Instant,
): HoldMark {
  if (state === null) {
    return { markHeight: null, markHash: null, markReadAt: null, isMarkRecent: false };
  }
  const { tipHeight, tipHash, tipSeenAt, headHeight, scannedAt } = state;
  const recentMs = Math.max(recentLeastMs, recentPolls * network.pollMs);
  const isOverdue = at - tipSeenAt > overdueMs(network);
  return {
    markHeight: tipHeight,
    markHash: tipHash,
    markReadAt: scannedAt,
    isMarkRecent: at - scannedAt <= recentMs && tipHeight >= headHeight && !isOverdue,
  };
}

/**
 * Returns the marks of holds on a network that are made now, by their invoices: the mark of the invoice's first hold there,
 * or the newest block for invoices without one.
 */
export async function marksOf(
  reader: Reader,
  network: Pick<Network, "id" | "pollMs" | "blockTimeMs">,
  {
    invoiceIds,
    heldBefore,
  }: {
    readonly invoiceIds: readonly Id<"invoice">[];
    /** The ids of invoices among them that may have a hold on the network. */
    readonly heldBefore: readonly Id<"invoice">[];
  },
  at: Instant,
): Promise<ReadonlyMap<Id<"invoice">, HoldMark>> {
  const first = await firstMarks(reader, network.id, heldBefore);
  const others = invoiceIds.filter((id) => !first.has(id));
  if (others.length === 0) return first;
  const mark = markAt(await networkState(reader, network.id), network, at);
  return new Map([...first, ...others.map((id) => [id, mark] as const)]);
}

interface FirstMark extends Omit<HoldMark, "isMarkRecent"> {
  readonly invoiceId: Id<"invoice">;
  readonly isMarkRecent: number;
}

async function firstMarks(
  reader: Reader,
  network: string,
  invoiceIds: readonly Id<"invoice">[],
): Promise<ReadonlyMap<Id<"invoice">, HoldMark>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await reader.all<FirstMark>(
    `SELECT invoice_id AS "invoiceId", mark_height AS "markHeight", mark_hash AS "markHash",
       mark_read_at AS "markReadAt", is_mark_recent AS "isMarkRecent"
     FROM holds WHERE network = $1 AND invoice_id IN ${listed(reader.dialect, 2)} ORDER BY id DESC`,
    [network, JSON.stringify(invoiceIds)],
  );
  return new Map(
    rows.map(({ invoiceId, isMarkRecent, ...mark }) => [
      invoiceId,
      { ...mark, isMarkRecent: isMarkRecent === 1 },
    ]),
  );
}

const places = givenRows("probe", { address: text(), height: integer() });

/**
 * Returns the marks, each once and the lowest first, of live holds at the addresses of transfers that are at the height of
 * the transfer or above: whether the chain still has them decides whether the transfer was made before the invoice.
 */
export function marksAbove(
  reader: Reader,
  network: string,
  transfers: readonly { readonly address: Address; readonly height: number }[],
): Promise<KnownBlock[]> {
  return reader.all(
    `SELECT DISTINCT holds.mark_height AS height, holds.mark_hash AS hash
     FROM ${places.from(reader.dialect, 2)} CROSS JOIN holds
     WHERE holds.network = $1 AND holds.address = probe.address AND holds.released_at IS NULL
       AND holds.mark_height IS NOT NULL AND holds.mark_height >= probe.height
     ORDER BY height LIMIT ${String(marksMax)}`,
    [network, places.values(transfers)],
  );
}
