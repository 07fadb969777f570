type Dependent = Readonly<Record<string, (deps: never, ...rest: never[]) => unknown>>;

/** The functions of a service without their first parameter, the dependencies. */
export type Bound<Functions extends Dependent> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (
    deps: never,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

/** Makes a service of functions: each gets the same dependencies as its first argument. */
export function bind<
  Deps,
  Functions extends Readonly<Record<string, (deps: Deps, ...rest: never[]) => unknown>>,
>(deps: Deps, functions: Functions): Bound<Functions> {
  return Object.fromEntries(
    Object.entries(functions).map(([name, call]) => [
      name,
      (...rest: never[]) => call(deps, ...rest),
    ]),
  ) as Bound<Functions>;
}
