import type { StoreLogger } from "../database.ts";

/** Runs the actions that follow a commit. A failing one is only logged, because its write has succeeded. */
export function runAfterCommit(actions: readonly (() => void)[], logger: StoreLogger): void {
  for (const action of actions) {
    try {
      action();
    } catch (error) {
      logger.error({ err: error }, "an action after a commit failed");
    }
  }
}
