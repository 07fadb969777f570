import { acceptGap, auditBlocks } from "../../../src/features/payments/networks/chain.ts";
import { minute } from "../../../src/kernel/clock.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Adversity } from "../adversity.ts";
import type { SimulatedProvider } from "../chain.ts";
import type { Ground } from "../ground.ts";
import { finalityLag, networkId } from "../stage.ts";
import type { Step } from "../steps.ts";
import type { Payers } from "./payers.ts";

type PruneStep = Extract<Step, { kind: "prune" }>;

/** The waits in which the watcher passes over a refused range, and asks for it again 10 minutes later. */
const waitsMs = [1, 1, 1, 2, 2, 12, 2, 12, 2].map((count) => count * minute);

/**
 * Makes providers whose logs of the blocks of a downtime were pruned, with a payment in them, and an operator who gives
 * these blocks up.
 */
export function makeOperators(
  ground: Ground,
  payers: Payers,
  adversity: Adversity,
): { prune: (step: PruneStep) => Promise<void> } {
  const { db, chain, deeds, attempt, invoiceAt, look, mine, wait } = ground;

  async function prune(step: PruneStep): Promise<void> {
    const state = await networkState(db, networkId);
    if (state === null) return;
    for (const provider of chain.providers) provider.beHonest();
    const invoice = await invoiceAt(step.invoice);
    if (invoice !== null) await payers.pay(invoice, "exact");
    if (step.isReplaced) {
      await look();
      adversity.reorganize({ kind: "reorganize", depth: 1, returning: 1 });
    }
    mine(step.blocks + finalityLag);
    const readHeight = step.isReplaced ? state.cursorHeight : state.tipHeight;
    const range = { prunedFrom: readHeight + 1, prunedTo: chain.tip().height - finalityLag };
    const [first, ...others] = chain.providers;
    for (const { lies } of step.who === "one" && first !== undefined ? [first] : chain.providers) {
      Object.assign(lies, range);
    }
    for (const ms of waitsMs) await wait(ms);
    if (step.comesBack) (others[0] ?? first)?.beHonest();
    // A payment that was seen in a block that is given up stays on record there, wherever the chain has it.
    if (step.isGivenUp && !step.isReplaced) await giveUp();
    if (step.isSeenAgain) for (const provider of chain.providers) provider.beHonest();
  }

  /** Gives up every range on record. No provider may read any of its ends then. */
  async function giveUp(): Promise<void> {
    const report = await attempt(({ app }) => auditBlocks(app, networkId, {}));
    for (const { fromHeight: from, toHeight: to } of report?.refused ?? []) {
      const range = { from, to };
      const given = await attempt(({ app }) =>
        acceptGap(app, testContext, networkId, range, "Nobody has it"),
      );
      if (given === null) continue;
      if (chain.providers.some((provider) => !refuses(provider, range))) {
        deeds.faults.push(`blocks ${String(from)} to ${String(to)} were given up, which are read`);
      }
      for (const { hash } of chain.blocks.slice(from, to + 1)) deeds.givenUp.add(hash);
    }
  }

  return { prune };
}

function refuses(
  { lies: { isDead, prunedFrom, prunedTo } }: SimulatedProvider,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return !isDead && prunedFrom <= from && to <= prunedTo;
}
