import { day, second, minute, type Instant } from "../../src/kernel/clock.ts";
import { networkState } from "../../src/platform/chain/state/network-state.ts";
import { acceptedRanges, rowsOutside } from "../../src/platform/chain/state/reading-ranges.ts";
import { readingsOf } from "../../src/platform/chain/state/readings.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { invoices } from "../../src/features/invoices/table.ts";
import { makeAdversity } from "./adversity.ts";
import type { Sending, SimulatedChain } from "./chain.ts";
import type { Deeds } from "./deeds.ts";
import { openGround } from "./ground.ts";
import { makeEncounters } from "./people/encounters.ts";
import { makeMerchants } from "./people/merchants.ts";
import { makeOperators } from "./people/operators.ts";
import { makePayers } from "./people/payers.ts";
import { makeRefunders } from "./people/refunders.ts";
import { askFaults } from "./rules/prices.ts";
import { nextDueRange } from "../../src/features/payments/watcher/readings/reading-plan.ts";
import { walletReadings } from "../../src/features/payments/watcher/readings/wallet-reading.ts";
import { blockMs, finalityLag, idleAddress, networkId, type Stage } from "./stage.ts";
import type { Step } from "./steps.ts";
import { noLimits } from "./node.ts";
import { makeStrangers } from "./people/strangers.ts";
import { makeSubscribers } from "./people/subscribers.ts";

/** Everything that steps change: Till with its store, the chain, and the people. */
export interface World {
  readonly db: Database;
  readonly chain: SimulatedChain;
  readonly deeds: Deeds;
  readonly now: () => Instant;
  readonly do: (step: Step) => Promise<void>;
  /** Everybody tells the truth again, and time passes. */
  readonly settle: () => Promise<void>;
}

/** The world at the beginning of a seed's history. */
export async function openWorld(stage: Stage, store: Database, seed: number): Promise<World> {
  const ground = await openGround(stage, store, seed);
  const { db, chain, deeds, look, bill, mine, wait, invoiceAt } = ground;
  const merchants = makeMerchants(ground);
  const payers = makePayers(ground);
  const subscribers = makeSubscribers(ground, payers);
  const refunders = makeRefunders(ground);
  const adversity = makeAdversity(ground);
  const strangers = makeStrangers(ground);
  const operators = makeOperators(ground, payers, adversity);
  const encounters = makeEncounters(ground, { merchants, payers, strangers, adversity });

  let steps = 0;
  let others = 0;
  const contract = stage.network.tokens[0]?.contract ?? "";
  async function act(step: Step): Promise<void> {
    steps += 1;
    const name = `step-${String(steps)}`;
    switch (step.kind) {
      case "create":
        return merchants.create(step, name);
      case "again":
        return merchants.again(step, name);
      case "burst":
        return merchants.burst(step, name);
      case "flood":
        return merchants.flood(step, name);
      case "cancel":
        return merchants.cancel(step);
      case "decide":
        return merchants.decide(step);
      case "pay": {
        const invoice = await invoiceAt(step.invoice);
        if (invoice !== null) await payers.pay(invoice, step.how, step.hold);
        return;
      }
      case "choose":
        return payers.choose(step);
      case "submit":
        return payers.submit(step);
      case "refund":
        return refunders.refund(step);
      case "bill":
        return subscribers.bill(step);
      case "mine":
        mine(step.blocks);
        return;
      case "wait":
        return wait(step.ms);
      case "look":
        return look();
      case "lie":
        adversity.lie(step);
        return;
      case "deceive":
        return encounters.deceive(step, name);
      case "regulars":
        return encounters.regulars(step, name);
      case "aim":
        return encounters.aim(step, name);
      case "household":
        return encounters.household(step);
      case "parts":
        return encounters.parts(step, name);
      case "earlier":
        return encounters.earlier(step, name);
      case "garble":
        return encounters.garble(step, name);
      case "reorganize":
        adversity.reorganize(step);
        return;
      case "prune":
        return operators.prune(step);
      case "crash":
        ground.planCrash(step);
        return;
    }
  }

  /** Blocks with a transfer between strangers each, as a token in use has: by those, indexes of logs are probed. */
  function mineOthers(blocks: number): void {
    for (let block = 0; block < blocks; block += 1) {
      ground.pass(blockMs);
      others += 1;
      const transactionHash = `8${others.toString(16).padStart(63, "0")}`;
      const [from, to] = ["b".repeat(40), "c".repeat(40)];
      mine(1, [{ transactionHash, contract, from, to, amount: 1_000_000n }]);
    }
  }

  /**
   * Looks once a minute until everything that is due was read: a provider with limits takes many small requests, and its
   * limits are tried upward again after a pause.
   */
  async function lookOn(): Promise<void> {
    const retries = chain.providers.some(({ limits }) => limits !== noLimits) ? retriesLeast : 0;
    for (let looks = 0; looks < looksMax; looks += 1) {
      await look();
      if (looks >= retries && (await isAllRead(db, ground.now()))) return;
      ground.pass(minute);
      mineOthers(1);
    }
    throw new Error("the blocks are never read to the end");
  }

  return {
    db,
    chain,
    deeds,
    now: ground.now,
    async do(step) {
      ground.pass(second);
      await act(step);
      deeds.faults.push(...askFaults(await db.find(invoices, "WHERE status <> 'draft'")));
    },
    async settle() {
      ground.planCrash(null);
      for (const provider of chain.providers) provider.beHonest();
      // On a chain that is behind, false times can be as late as now, and true ones are refused until they pass those.
      for (let looks = 0; looks < 2; looks += 1) {
        mine(1);
        await look();
        ground.pass(20 * minute);
      }
      mine(1, [gift(contract)]);
      mine(finalityLag);
      await lookOn();
      ground.pass(day);
      mineOthers(3);
      await lookOn();
      for (const ms of settlingMs) {
        ground.pass(ms);
        mineOthers(3);
        await lookOn();
      }
      await bill();
      mine(finalityLag + 1);
      await lookOn();
    },
  };
}

/** Money for a wallet at which no invoice is payable: it must be in the inbox a day later. */
function gift(contract: string): Sending {
  const transactionHash = "9".repeat(64);
  return { transactionHash, contract, from: "b".repeat(40), to: idleAddress, amount: 7_000_000n };
}

/** True if no final block is due to be read again, and no reading of the wallets is under way. */
async function isAllRead(db: Database, now: Instant): Promise<boolean> {
  const state = await networkState(db, networkId);
  const wallets = await db.findOne(walletReadings, "WHERE network = $1", [networkId]);
  if (state === null || wallets === null || wallets.toHeight > wallets.throughHeight) return false;
  const accepted = await acceptedRanges(db, networkId);
  const rows = rowsOutside(await readingsOf(db, networkId), accepted);
  return nextDueRange(rows, { cursorHeight: state.cursorHeight, now, oldestHold: 0 }, 1) === null;
}

/** The looks after the first one that can fail because a limit is tried upward, or was not learned yet. */
const retriesLeast = 2;
const looksMax = 400;

/** Longer than any patience of the watcher: providers that were left out are asked again, ranges are read again. */
const settlingMs = [2, 4, 6, 12, 65, 65].map((count) => count * minute);
