import type { RestoreRecord } from "../../platform/backup/restores.ts";

/**
 * Positions of events are assigned again after a restore, so a cursor also names the last restore before it: `120` in a
 * store that never was restored, else `120:rst_…`.
 */
export interface CursorEpochs {
  format(position: number): string;
  parse(text: string): { readonly position: number; readonly outdated: OutdatedCursor | null };
}

/** A cursor behind events that a restore has lost. */
export interface OutdatedCursor {
  /** The last position that the cursor's store and this one have in common; null if that is unknown. */
  readonly shared: number | null;
  /** ISO 8601. */
  readonly backupCreatedAt: string;
}

/** @param restores those in the history of the store, oldest first */
export function epochsAfter(restores: readonly RestoreRecord[]): CursorEpochs {
  const last = restores.at(-1);
  return {
    format: (position) => [String(position), ...(last === undefined ? [] : [last.id])].join(":"),
    parse(text) {
      const [digits, epoch = null] = text.split(":");
      const position = Number(digits);
      const place = restores.findIndex(({ id }) => id === epoch);
      if (last === undefined) return { position, outdated: null };
      const { backupCreatedAt } = last;
      // A restore of which the backup knows nothing: its events may differ from the first one on.
      if (epoch !== null && place === -1) {
        return { position, outdated: { shared: null, backupCreatedAt } };
      }
      const since = restores.slice(place + 1).map(({ eventPosition }) => eventPosition);
      // Without a restore since, it is infinite.
      const shared = Math.min(...since);
      return { position, outdated: position <= shared ? null : { shared, backupCreatedAt } };
    },
  };
}
