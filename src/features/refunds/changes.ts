import type { Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { difference, type Journal } from "../../platform/journal/index.ts";
import type { RefundRequests } from "../payments/ledger/types.ts";
import { presentRefund, viewOf } from "./present.ts";
import { insertRefund, lockRequested, saveRefund } from "./store.ts";
import type { RefundRow } from "./table.ts";

export interface RefundJournal {
  readonly journal: Journal;
  /** Every configured network by id, including disabled ones. */
  readonly networks: ReadonlyMap<string, Network>;
}

type RefundEvent = Extract<EventType, `refund.${string}`>;

/** Stores a new refund, or the changes of one, with its audit entry and its event. Returns the stored row. */
export async function writeRefund(
  tx: Tx,
  { journal, networks }: RefundJournal,
  before: RefundRow | null,
  after: RefundRow,
  type: RefundEvent,
): Promise<RefundRow> {
  const row = before === null ? after : { ...after, version: before.version + 1 };
  await (before === null ? insertRefund(tx, row) : saveRefund(tx, row));
  const record = presentRefund(viewOf(row, networks));
  const past = before === null ? {} : presentRefund(viewOf(before, networks));
  journal.record(tx, row.updatedAt, {
    action: type,
    organizationId: row.organizationId,
    subjectType: "refund",
    subjectId: row.id,
    changes: difference(past, record),
    events: {
      types: [type],
      version: row.version,
      data: before === null ? record : { ...record, previousStatus: before.status },
    },
  });
  return row;
}

/** Makes the function by which payments withdraw refunds that they no longer have the surplus for. */
export function makeRefundRequests(deps: RefundJournal): RefundRequests {
  return {
    async withdraw(tx, paymentIds, at: Instant) {
      for (const before of await lockRequested(tx, paymentIds)) {
        await writeRefund(tx, deps, before, withdrawn(before, at), "refund.rejected");
      }
    },
  };
}

/** Returns a refund that Till rejects because its payment has no surplus left. */
export function withdrawn(refund: RefundRow, at: Instant): RefundRow {
  return {
    ...refund,
    status: "rejected",
    transactionHash: null,
    refusal: "surplus_gone",
    updatedAt: at,
  };
}
