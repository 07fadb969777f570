import type { StoreLogger } from "../database.ts";
import type { Draft } from "./draft.ts";

/** Creates an empty draft of a store. A draft that a killed process left is removed. Only one can exist per store. */
export async function openDraft(
  place: { readonly url: string } | { readonly sqliteFile: string },
  logger: StoreLogger,
): Promise<Draft> {
  if ("url" in place) {
    const { openPostgresDraft } = await import("../postgres/draft.ts");
    return openPostgresDraft(place.url, logger);
  }
  const { openSqliteDraft } = await import("../sqlite/draft.ts");
  return openSqliteDraft(place.sqliteFile, logger);
}
