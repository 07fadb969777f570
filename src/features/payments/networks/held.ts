import { hour, toIso, type Instant } from "../../../kernel/clock.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import type { Alarm, AlarmKind } from "../../../platform/chain/state/alarms.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { PlacedTransaction } from "../../../platform/chain/providers/probe.ts";
import { openAlarms } from "../../../platform/chain/state/provider-store.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { HeldNotConfirmed } from "../errors.ts";

/** A provider's opinion on something that is held, at the moment of an operator's decision. */
export type Opinion =
  | "agrees"
  | "does_not_know"
  | "is_behind"
  | "is_away"
  | { readonly disagrees: string };

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
  { blockHeight, blockHash }: PlacedTransaction,
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
