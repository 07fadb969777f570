import { Defect } from "./errors.ts";

/** The allowed transitions between states. */
interface Transitions<State extends string> {
  readonly states: readonly State[];
  /** Returns the states that may follow. */
  next(from: State): readonly State[];
  /** True if `to` may follow `from`. A state may follow itself only if declared. */
  allows(from: State, to: State): boolean;
  /**
   * Throws a Defect for a transition that is not allowed. Callers that can be at fault use `allows` and throw their own
   * problem.
   */
  assertTransition(from: State, to: State): void;
}

/**
 * Declares the states of a record, each with those that may follow it: `transitions({ draft: ["open"], open: ["paid",
 * "canceled"], paid: [], canceled: [] })`.
 */
export function transitions<State extends string>(
  declared: Readonly<Record<State, readonly NoInfer<State>[]>>,
): Transitions<State> {
  const following = new Map<State, readonly State[]>(
    (Object.keys(declared) as State[]).map((state) => [state, declared[state]]),
  );
  function next(from: State): readonly State[] {
    const states = following.get(from);
    if (states === undefined) throw new Defect(`'${from}' is not a declared state`);
    return states;
  }
  function allows(from: State, to: State): boolean {
    return next(from).includes(to);
  }
  return {
    states: [...following.keys()],
    next,
    allows,
    assertTransition(from, to) {
      if (!allows(from, to)) throw new Defect(`'${to}' may not follow '${from}'`);
    },
  };
}
