import type { App } from "../../../app.ts";
import { second, type Instant } from "../../../kernel/clock.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { NetworkStateRow } from "../../../platform/chain/state/network-state.ts";
import {
  confirmingAmong,
  maturePayments,
  transfersById,
  type ConfirmingPosition,
} from "../ledger/store.ts";
import type { TransferRow } from "../table.ts";
import type { Candidate, Verifier } from "./receipt-verifier.ts";
import { confirmPayments, type LeaseGuard } from "./recorder.ts";

/** The largest number of payments that are verified and confirmed together. */
const confirmationsMax = 500;
/** How long payments are confirmed before the next scan, in milliseconds: well below the lease on the network. */
const confirmingForMs = 5 * second;
/** How often held payments are checked for a decision, in milliseconds. */
const releaseEveryMs = 15 * second;

const firstPosition: ConfirmingPosition = { height: -1, id: "" };

interface Confirmable {
  /** Payments whose receipts were verified. */
  readonly verified: readonly Candidate[];
  readonly isMore: boolean;
}

/** Confirms the payments of one network in batches, after their receipts were verified. */
interface Confirmations {
  /**
   * Returns the next payments with enough confirmations at a tip and agreeing receipts. Leaves out the payments of
   * `moving`: transfers whose position changes now.
   */
  find(tipHeight: number, moving: readonly TransferRow[]): Promise<Confirmable>;
  /** Confirms further batches without scanning the chain in between; returns true if some are left. */
  confirmOthers(guard: LeaseGuard, recorded: NetworkStateRow): Promise<boolean>;
  /** Releases held payments that are no longer confirming. */
  releaseDecided(): Promise<void>;
}

export function makeConfirmations(deps: {
  readonly app: App;
  readonly network: Network;
  readonly verifier: Verifier;
}): Confirmations {
  const { app, network, verifier } = deps;
  const { db, clock } = app;
  let confirmedUpTo = firstPosition;
  let releasedAt: Instant = 0;

  async function find(tipHeight: number, moving: readonly TransferRow[]): Promise<Confirmable> {
    const mature = await maturePayments(db, network.id, tipHeight, confirmedUpTo, confirmationsMax);
    const last = mature.at(-1);
    const isFull = last !== undefined && mature.length === confirmationsMax;
    confirmedUpTo = isFull ? { height: last.confirmsAtHeight, id: last.id } : firstPosition;
    const changing = new Set(moving.map(({ id }) => id));
    const staying = mature.filter(({ transferId }) => !changing.has(transferId));
    const transfers = await transfersById(
      db,
      staying.map(({ transferId }) => transferId),
    );
    const candidates = staying.flatMap((payment): Candidate[] => {
      const transfer = transfers.get(payment.transferId);
      const { id, confirmsAtHeight } = payment;
      return transfer === undefined ? [] : [{ id, confirmsAtHeight, transfer, payment }];
    });
    const agreed = await verifier.verify(candidates);
    const verified = candidates.filter(({ id }) => agreed.has(id));
    return { verified, isMore: isFull && verified.length > 0 };
  }

  return {
    find,

    async confirmOthers(guard, recorded) {
      const begun = clock.now();
      let state = recorded;
      while (Math.abs(clock.now() - begun) < confirmingForMs) {
        const { verified, isMore } = await find(state.tipHeight, []);
        if (verified.length > 0) {
          state = await confirmPayments(app, network, guard, state, verified);
        }
        if (!isMore) return false;
      }
      return true;
    },

    async releaseDecided() {
      const held = verifier.held();
      if (held.length === 0 || Math.abs(clock.now() - releasedAt) < releaseEveryMs) return;
      releasedAt = clock.now();
      const waiting = await confirmingAmong(db, held);
      verifier.release(held.filter((id) => !waiting.has(id)));
    },
  };
}
