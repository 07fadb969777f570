import { markAt } from "../../src/features/invoices/holds/holds.ts";

/** The mark of a hold on a network that was never read. */
export const unmarked = markAt(null, { pollMs: 0, blockTimeMs: 0 }, 0);

/** A candidate above every mark, which was not recorded before. */
export const unseen = { blockHeight: 1_000_000, recordedAt: null } as const;

/** A chain of which nothing is known but that it is long. */
export const longChain = { tipHeight: 1_000_000, hashes: [] } as const;
