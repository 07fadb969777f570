/** Returns a function that calls `compute` the first time, and returns the same result from then on. */
export function once<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => (computed ??= { value: compute() }).value;
}
