/**
 * Yields the rows of a query batch by batch. `read` returns the first `size` rows after a position, in their order; the
 * first position is the empty text. A batch that is not full is the last one.
 */
export async function* batchesOf<Row>(
  size: number,
  read: (after: string) => Promise<readonly Row[]>,
  positionOf: (row: Row) => string,
): AsyncGenerator<readonly Row[]> {
  let after = "";
  for (;;) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < size) return;
    after = positionOf(last);
  }
}
