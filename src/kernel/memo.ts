/** Sets an entry of a map that keeps those which were set last, at most `most` of them. */
export function setRecent<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): void {
  // A map is in the order in which its keys were added.
  map.delete(key);
  for (const oldest of map.keys()) {
    if (map.size < most) break;
    map.delete(oldest);
  }
  map.set(key, value);
}

/** Returns a function that calls `compute` the first time, and returns the same result from then on. */
export function once<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => (computed ??= { value: compute() }).value;
}
