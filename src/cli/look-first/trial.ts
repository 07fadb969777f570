import type { WriteContext } from "../../platform/database/database.ts";

/** A dry run: writes run with all their checks and are then rolled back. */
export interface Trial {
  readonly finish: NonNullable<WriteContext["finish"]>;
  /** Returns the result of a write that `finish` rolled back. */
  resultOf(work: Promise<unknown>): Promise<unknown>;
}

export function makeTrial(): Trial {
  return {
    finish: (_tx, result): never => {
      throw new TriedOut(result);
    },
    async resultOf(work) {
      try {
        return await work;
      } catch (error) {
        if (error instanceof TriedOut) return error.result;
        throw error;
      }
    },
  };
}

/** Carries the result of a dry run out of its transaction; throwing it rolls the transaction back. */
class TriedOut extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("dry run");
    this.result = result;
  }
}
