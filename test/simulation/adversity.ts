import { day, hour, minute, second } from "../../src/kernel/clock.ts";
import type { Lies } from "./chain.ts";
import type { Ground } from "./ground.ts";
import { finalityLag } from "./stage.ts";
import type { Lie, ShiftedBlocks, Step } from "./steps.ts";

/** Chains that replace blocks, and providers that lie. */
export interface Adversity {
  /** Has a provider shift the times of blocks. */
  readonly shift: (provider: number, blocks: ShiftedBlocks, shiftMs: number) => void;
  readonly reorganize: (step: Extract<Step, { kind: "reorganize" }>) => void;
  readonly lie: (step: Extract<Step, { kind: "lie" }>) => void;
}

/** How far a provider shifts the times of blocks, by the amount of its lie. Only the smallest can be believed. */
const shifts: Readonly<Record<number, { readonly future: number; readonly past: number }>> = {
  1: { future: 5 * minute, past: -2 * minute },
  2: { future: 20 * minute, past: -hour },
  3: { future: day, past: -3 * day },
  9: { future: 10 * day, past: -9 * day },
};

export function makeAdversity({ chain, mine }: Ground): Adversity {
  function reorganize({ depth, returning }: Extract<Step, { kind: "reorganize" }>): void {
    const count = Math.min(depth, chain.blocks.length - 12 - finalityLag);
    if (count <= 0) return;
    const gone = chain.rollback(count);
    const hashes = [...new Set(gone.map(({ transactionHash }) => transactionHash))].reverse();
    mine(1);
    for (const hash of hashes.slice(0, returning)) {
      mine(
        1,
        gone.filter(({ transactionHash }) => transactionHash === hash),
      );
    }
    // The new branch is the longer one, as on a real chain.
    const missing = count - Math.min(returning, hashes.length);
    if (missing > 0) mine(missing);
  }

  function lie({ provider: place, lie: told, amount }: Extract<Step, { kind: "lie" }>): void {
    const provider = chain.providers[place % chain.providers.length];
    if (provider === undefined) return;
    const { lies } = provider;
    const shiftBy = (way: "future" | "past") => {
      shift(place, "newest", shifts[amount]?.[way] ?? 0);
    };
    const acts: Readonly<Record<Lie, () => void>> = {
      dead: () => (lies.isDead = true),
      future: () => {
        shiftBy("future");
      },
      past: () => {
        shiftBy("past");
      },
      empty: () => (lies.isEmpty = true),
      index_lag: () => (lies.indexLag = amount),
      index_lag_long: () => (lies.indexLag = finalityLag + 4 * amount),
      behind: () => (lies.behind = 2 * amount),
      newest_is_final: () => (lies.callsNewestFinal = true),
      garbled: () => (lies.garblesAmounts = true),
      honest: () => {
        provider.beHonest();
      },
    };
    acts[told]();
  }

  function shift(place: number, blocks: ShiftedBlocks, shiftMs: number): void {
    const { height } = chain.tip();
    const finalHeight = Math.max(0, height - finalityLag);
    const lies: Readonly<Record<ShiftedBlocks, Partial<Lies>>> = {
      newest: { timesFrom: height, timesTo: Infinity, shiftsLogsAlone: false },
      old: { timesFrom: 0, timesTo: finalHeight - 1, shiftsLogsAlone: false },
      logs: { timesFrom: height, timesTo: Infinity, shiftsLogsAlone: true },
    };
    const number = place % chain.providers.length;
    // Two providers that lie do not give the same time.
    const own = { shiftMs: shiftMs + number * second };
    Object.assign(chain.providers[number]?.lies ?? {}, lies[blocks], own);
  }

  return { reorganize, lie, shift };
}
