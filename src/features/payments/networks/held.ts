import type { App, InTx } from "../../../app.ts";
import { hour, toIso, type Instant } from "../../../kernel/clock.ts";
import { assert, NotFound } from "../../../kernel/errors.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Alarm, AlarmKind } from "../../../platform/chain/state/alarms.ts";
import { stateTable, type NetworkStateRow } from "../../../platform/chain/state/network-state.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { IncludedTransaction } from "../../../platform/chain/providers/probe.ts";
import { endAlarms, openAlarms } from "../../../platform/chain/state/provider-health.ts";
import type { Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { HeldNotConfirmed } from "../errors.ts";
import { markVerified, unverifiedAmong } from "../ledger/store.ts";
import { payments, transfers, type PaymentRow, type TransferRow } from "../table.ts";
import { evidenceOf } from "../watcher/receipt-verifier.ts";
import { confirmPaymentsIn } from "../watcher/recorder.ts";
import { enabledNetwork, readerOf } from "./chain.ts";

/** A provider's opinion on something that is held, at the moment of an operator's decision. */
export type Opinion =
  | "agrees"
  | "does_not_know"
  | "is_behind"
  | "is_away"
  | { readonly disagrees: string };

/** A payment or transfer that a provider's contradiction holds, with the opinions of all providers. */
export interface HeldSubject {
  readonly id: string;
  readonly network: Network;
  readonly transfer: TransferRow;
  /** Null if a transfer is held. */
  readonly payment: PaymentRow | null;
  readonly heldSince: Instant;
  readonly opinions: readonly { readonly provider: string; readonly opinion: Opinion }[];
}

/**
 * Returns a held payment or transfer, and asks every provider about it now. Throws NotFound, ProviderUnusable or
 * HeldNotConfirmed if it is not held.
 */
export async function findHeldSubject(app: App, id: string): Promise<HeldSubject> {
  const { db } = app;
  const payment = await db.findOne(payments, "WHERE id = $1", [id]);
  const transfer = await db.findOne(transfers, "WHERE id = $1", [payment?.transferId ?? id]);
  if (transfer === null) throw new NotFound(`There is no payment or transfer ${id}.`);
  const network = enabledNetwork(app, transfer.network);
  const { pool } = readerOf(app, network);
  const alarm = await heldAlarm(db, { network: network.id, kinds: heldKinds, id });
  const opinions = await Promise.all(
    pool.providers.map(async (client) => {
      const { provider } = client;
      const opinion = await opinionOf(client, transfer, () => evidenceOf(client, transfer));
      return { provider, opinion };
    }),
  );
  return { id, network, transfer, payment, heldSince: alarm.raisedAt, opinions };
}

const heldKinds = ["payment_held", "transfer_held"] as const;

/**
 * Confirms a held payment, or marks a held transfer as verified, for the providers that do not know its transaction. Its
 * block must be final, one provider must confirm it now, and none may contradict it. Throws NotFound, ProviderUnusable or
 * HeldNotConfirmed.
 */
export async function confirmHeldSubject(
  app: App,
  context: WriteContext,
  id: string,
  reason: string,
): Promise<HeldSubject> {
  const held = await findHeldSubject(app, id);
  assertConfirmable(held.opinions, held.heldSince, app.clock.now());
  return writeConfirmed(app, context, held, reason);
}

function writeConfirmed(
  app: App,
  context: WriteContext,
  held: HeldSubject,
  reason: string,
): Promise<HeldSubject> {
  const { db, clock, journal } = app;
  const { id, network, transfer, payment } = held;
  return db.write(context, async (tx) => {
    const state = await tx.lockOne(stateTable, "WHERE network = $1", [network.id]);
    await heldAlarm(tx, { network: network.id, kinds: heldKinds, id });
    const at = clock.now();
    if (state === null || transfer.blockHeight > state.cursorHeight) {
      throw new HeldNotConfirmed("Its block is not final yet. Wait until it is.");
    }
    const confirmed = payment === null ? null : await confirmPayment(tx, app, state, held);
    if (payment === null) await verifyTransfer(tx, transfer);
    const { transactionHash, blockHash, organizationId } = transfer;
    await endAlarms(tx, { network: network.id, kinds: heldKinds, subject: id }, at);
    journal.record(tx, at, {
      action: payment === null ? "transfer.held_verified" : "payment.held_confirmed",
      organizationId: payment?.organizationId ?? organizationId,
      subjectType: payment === null ? "transfer" : "payment",
      subjectId: id,
      changes: { network: network.id, transactionHash, blockHash, reason, opinions: held.opinions },
    });
    return { ...held, payment: confirmed };
  });
}

async function confirmPayment(
  tx: Tx,
  app: InTx,
  state: NetworkStateRow,
  { id, network, transfer, payment }: HeldSubject,
): Promise<PaymentRow> {
  assert(payment !== null, "a transfer is not confirmed");
  const { confirmsAtHeight } = payment;
  await confirmPaymentsIn(tx, app, network, state, [{ id, confirmsAtHeight, transfer, payment }]);
  const after = await tx.findOne(payments, "WHERE id = $1", [id]);
  if (after?.status === "confirmed") return after;
  throw new HeldNotConfirmed(
    "It does not wait for its confirmation any more, has moved to another block, or lacks confirmations.",
  );
}

async function verifyTransfer(tx: Tx, transfer: TransferRow): Promise<void> {
  const isOpen = (await unverifiedAmong(tx, [transfer.id])).has(transfer.id);
  if (isOpen) await markVerified(tx, [transfer]);
  const after = await tx.findOne(transfers, "WHERE id = $1", [transfer.id]);
  if (isOpen && after?.verification === "verified") return;
  throw new HeldNotConfirmed("It does not wait any more, or has moved to another block.");
}

/** How long a payment, transfer or refund must be held before an operator may confirm it, in milliseconds. */
const heldForMs = hour;

/** Returns the open alarm, of one of the kinds, that holds a subject. Throws HeldNotConfirmed without one. */
export async function heldAlarm(
  reader: Reader,
  { network, kinds, id }: { network: string; kinds: readonly AlarmKind[]; id: string },
): Promise<Alarm> {
  const open = await openAlarms(reader, network);
  const alarm = open.find(({ kind, subject }) => kinds.includes(kind) && subject === id);
  if (alarm !== undefined) return alarm;
  throw new HeldNotConfirmed(`${id} is not held. Check till chain status.`);
}

/**
 * Returns a provider's opinion on a transaction: that of its evidence, or, if the provider has none (null), whether it has
 * the final block in which another provider has the transaction.
 */
export async function opinionOf<Evidence>(
  client: ChainClient,
  { blockHeight, blockHash }: IncludedTransaction,
  readEvidence: () => Promise<Evidence | null>,
): Promise<Evidence | Opinion> {
  try {
    const evidence = await readEvidence();
    if (evidence !== null) return evidence;
    const [block] = await client.blocks([blockHeight]);
    const { finalized } = await client.heads();
    // A provider that is behind may still contradict it.
    if (finalized.height < blockHeight) return "is_behind";
    if (block == null || block.hash === blockHash) return "does_not_know";
    return { disagrees: "it has another block at the height" };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return "is_away";
  }
}

/**
 * Throws HeldNotConfirmed unless an operator may confirm something that is held: one provider confirms it now, every
 * other one answers and does not contradict it, and it is held for an hour.
 */
export function assertConfirmable(
  opinions: readonly { readonly provider: string; readonly opinion: Opinion }[],
  heldSince: Instant,
  now: Instant,
): void {
  for (const { provider, opinion } of opinions) {
    if (opinion === "agrees" || opinion === "does_not_know") continue;
    if (typeof opinion === "string") {
      const condition =
        opinion === "is_away" ? "does not answer now" : "does not have its block yet";
      throw new HeldNotConfirmed(
        `${provider} ${condition}, so it may contradict it. Check till chain status --probe. Wait, or remove a provider ` +
          "that never answers.",
      );
    }
    throw new HeldNotConfirmed(
      `${provider} contradicts it: ${opinion.disagrees}. Find out which provider is right, and replace the wrong one.`,
    );
  }
  if (!opinions.some(({ opinion }) => opinion === "agrees")) {
    throw new HeldNotConfirmed("No provider confirms it now. Check till chain status --probe.");
  }
  if (now - heldSince < heldForMs) {
    throw new HeldNotConfirmed(
      `It is held since ${toIso(heldSince)}. Wait for an hour: the provider may only be behind.`,
    );
  }
}
