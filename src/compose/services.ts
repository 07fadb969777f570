import { once } from "../platform/once.ts";
import type { App } from "../app.ts";

/** The functions that make the services, by their names. Each makes its service once, from those that it needs. */
export type ServiceMakers = ReturnType<typeof makersOf>;
export type ServiceName = keyof ServiceMakers;
export type ServiceOf<Name extends ServiceName> = NonNullable<
  Awaited<ReturnType<ServiceMakers[Name]>>
>;

/** All services, as a server has them. */
export type Services = {
  readonly [Name in ServiceName]: Awaited<ReturnType<ServiceMakers[Name]>>;
};

/** Makes all services. */
export async function makeServices(parts: App): Promise<Services> {
  const makers = Object.entries(makersOf(parts));
  const made = await Promise.all(makers.map(async ([name, make]) => [name, await make()] as const));
  return Object.fromEntries(made) as Services;
}

/**
 * Returns the functions that make the services. A command makes the one that it calls, and so loads only what that
 * needs; a server makes all of them.
 */
export function makersOf(parts: App) {
  return {
    /** For features whose functions take the app itself. */
    app: () => Promise.resolve(parts),
    /** Null if the sandbox is disabled, so that its commands are refused. */
    sandbox: once(async () => {
      const { sandboxOf } = await import("../features/payments/sandbox/sandbox.ts");
      return sandboxOf(parts) === null ? null : parts;
    }),
  };
}
