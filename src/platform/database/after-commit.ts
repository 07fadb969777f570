import type { StoreLogger } from "./database.ts";

/** Wake-ups: one that fails is logged, since the write that asked for it is done. */
export function runAfterCommit(actions: readonly (() => void)[], logger: StoreLogger): void {
  for (const action of actions) {
    try {
      action();
    } catch (error) {
      logger.error({ err: error }, "an action after a commit failed");
    }
  }
}
