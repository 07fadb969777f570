/** Returns the known name that is closest to a mistyped one; null if none is close enough. */
export function didYouMean(typed: string, known: readonly string[]): string | null {
  return nearest(typed, known, (name) => name, 1)[0] ?? null;
}

/** Returns up to `max` known things whose name is close enough to a mistyped one, the closest first. */
export function nearest<Known>(
  typed: string,
  known: readonly Known[],
  nameOf: (one: Known) => string,
  max: number,
): Known[] {
  const wanted = bare(typed);
  if (wanted === "") return [];
  const distanceMax = Math.max(1, Math.floor(wanted.length / 4));
  return known
    .map((one) => ({ one, distance: editDistance(wanted, bare(nameOf(one))) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((one, other) => one.distance - other.distance)
    .slice(0, max)
    .map(({ one }) => one);
}

/** Returns "; did you mean …?" for the end of a message, or nothing. */
export function suggestion(typed: string, known: readonly string[]): string {
  const meant = didYouMean(typed, known);
  return meant === null ? "" : `; did you mean ${meant}?`;
}

/** Drops everything in which spellings of a name differ: TILL_BASE_URL and base_url equal baseUrl. */
function bare(name: string): string {
  const letters = name.replace(/[^a-z0-9]/gi, "").toLowerCase();
  return letters.replace(/^till(?=.)/, "").slice(0, 64);
}

/** Returns the number of letters to insert, delete, replace or swap with a neighbor to turn one text into the other. */
function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = i > 1 && j > 1 && isSwapped ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
