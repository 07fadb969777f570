import { defineProblem } from "../../../kernel/errors.ts";
import type { Database, Reader } from "../database.ts";

/** The store that a new one replaces; null if no store exists. */
export type FormerContent = Reader | "damaged" | null;

/** A store that is being filled beside the current one, which stays unchanged until `replace`. */
export interface NewStore {
  /** The new store itself, without tables at first. */
  readonly db: Database;
  /**
   * Makes the new store the store in one atomic step and closes it. The former store is kept beside it.
   * @param moment part of the kept store's name: lowercase letters and digits
   * @param lastStep called with the former store, which nobody else can change now, while the new one can still be
   *   written; what it throws prevents the change
   * @param beforeSwitch called when everything but the atomic step itself is done
   * @returns the name of the kept store; null if there was none
   */
  replace(
    moment: string,
    lastStep: (former: FormerContent) => Promise<void>,
    beforeSwitch: () => Promise<void>,
  ): Promise<string | null>;
  /** Closes and removes the new store, unless it has become the store. */
  discard(): Promise<void>;
}

/** Another process has the store open, or is replacing it too. */
export const StoreInUse = defineProblem({
  code: "store_in_use",
  status: 409,
  title: "The store is in use",
});
