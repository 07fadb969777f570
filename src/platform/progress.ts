/**
 * Receives how far a long work is, for a person who watches it. `total` is null if it is not known. It is called often, so it
 * must return at once.
 */
export type Progress = (work: string, done: number, total: number | null) => void;

/** Ignores the progress. */
export const unwatched: Progress = () => undefined;

/** Passes parts on, and reports how many there were; `sizeOf` is what a part counts. */
export async function* counted<Part>(
  parts: AsyncIterable<Part>,
  progress: Progress,
  work: string,
  total: number | null,
  sizeOf: (part: Part) => number = () => 1,
): AsyncGenerator<Part> {
  let done = 0;
  for await (const part of parts) {
    progress(work, done, total);
    yield part;
    done += sizeOf(part);
  }
  progress(work, done, total);
}
