import { verifyStore } from "../../src/compose/checks.ts";
import type { Reader } from "../../src/platform/database/database.ts";
import { auditKey } from "../support/secret.ts";
import { faultsOf } from "./model.ts";
import type { Stage } from "./stage.ts";
import { stepsOf, type Step } from "./steps.ts";
import { openWorld } from "./world.ts";

/** A history by its seed, and the places of those of its steps that are played; all of them without `only`. */
export interface History {
  readonly seed: number;
  readonly steps: number;
  readonly only?: readonly number[] | undefined;
}

export interface PlayOptions {
  /** Whether the store is verified after every step, or at the end alone. */
  readonly verifies: "steps" | "end";
  /** The names of the steps that are left out, such as `lie future` or `rewind`. */
  readonly without?: readonly string[];
}

/** Null: everything is as it must be. */
export async function play(
  stage: Stage,
  history: History,
  options: PlayOptions,
): Promise<string | null> {
  const db = await stage.freshStore();
  try {
    const world = await openWorld(stage, db, history.seed);
    for (const { place, step } of stepsIn(history, options)) {
      await at(`step ${String(place)} (${nameOf(step)})`, () => world.do(step));
      if (options.verifies === "steps") {
        const found = await violations(db);
        if (found !== null) return `after step ${String(place)} (${nameOf(step)}): ${found}`;
      }
    }
    await at("settling", () => world.settle());
    const found = await violations(db);
    if (found !== null) return `at the end: ${found}`;
    const faults = await faultsOf(world, stage);
    return faults.length === 0 ? null : faults.join("\n");
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function at(where: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`${where} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function stepsIn({ seed, steps, only }: History, { without = [] }: Pick<PlayOptions, "without">) {
  return stepsOf(seed, steps)
    .map((step, place) => ({ place, step }))
    .filter(({ place }) => only === undefined || only.includes(place))
    .filter(({ step }) => !without.includes(nameOf(step)) && !without.includes(step.kind));
}

/** Returns the name by which a step can be left out. */
function nameOf(step: Step): string {
  if (step.kind === "lie") return `lie ${step.lie}`;
  if (step.kind === "pay") return `pay ${step.how}`;
  if (step.kind === "bill") return `bill ${step.what}`;
  if (step.kind === "refund") return `refund ${step.what}`;
  if (step.kind === "decide" || step.kind === "submit") return `${step.kind} ${step.what}`;
  if (step.kind === "reorganize") return step.depth > 6 ? "rewind" : "reorganize";
  return step.kind;
}

async function violations(reader: Reader): Promise<string | null> {
  const broken = (await verifyStore(reader, auditKey)).filter(
    ({ violations: rows }) => rows.length > 0,
  );
  if (broken.length === 0) return null;
  return broken
    .map(({ check, violations: rows }) => `${check.name}: ${JSON.stringify(rows.slice(0, 3))}`)
    .join("\n");
}

/** The fewest steps found that still fail: parts are left out, halves first, then ever smaller ones. */
export async function shrink(
  stage: Stage,
  history: History,
  options: PlayOptions,
): Promise<{ readonly history: History; readonly fault: string }> {
  let kept = stepsIn(history, options).map(({ place }) => place);
  let fault = "";
  for (
    let size = Math.ceil(kept.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let start = 0; start < kept.length;) {
      const fewer = [...kept.slice(0, start), ...kept.slice(start + size)];
      const found = await play(stage, { ...history, only: fewer }, options);
      if (found === null) start += size;
      else {
        kept = fewer;
        fault = found;
      }
    }
  }
  const shrunk = { ...history, only: kept };
  return {
    history: shrunk,
    fault: fault === "" ? ((await play(stage, shrunk, options)) ?? "") : fault,
  };
}

/** Describes a failed history: its fault, its steps, and the command that plays it again. */
export function told(history: History, fault: string, options: PlayOptions): string {
  const { seed, steps, only } = history;
  const flags = [
    `--seed ${String(seed)} --steps ${String(steps)}`,
    only === undefined ? "" : ` --only ${only.length === 0 ? "none" : only.join(",")}`,
    ...(options.without ?? []).map((name) => ` --without "${name}"`),
  ];
  const lines = stepsIn(history, options).map(
    ({ place, step }) => `  ${String(place)} ${JSON.stringify(step)}`,
  );
  return `${fault}\n${lines.join("\n")}\nnpm run simulate -- ${flags.join("")}`;
}
