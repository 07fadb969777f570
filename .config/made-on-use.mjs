// Part of the program of commands that read: see bundle.mjs.

/** Returns an object that is made when something of it is used, which for most records never happens. */
export function madeOnUse(make) {
  let made;
  const use = () => (made ??= make());
  return new Proxy(
    {},
    {
      get: (_target, name) => Reflect.get(use(), name),
      has: (_target, name) => Reflect.has(use(), name),
      set: (_target, name, value) => Reflect.set(use(), name, value),
      getPrototypeOf: () => Reflect.getPrototypeOf(use()),
      defineProperty: (_target, name, property) => Reflect.defineProperty(use(), name, property),
    },
  );
}
