import { systemActor } from "../kernel/actor.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
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
  const { db, journal, clock, ids } = parts;
  const { networks } = parts;
  const { enabled } = networks;
  const common = { db, clock, ids, journal };

  const leases = once(async () => {
    const { createLeases } = await import("../platform/jobs/leases.ts");
    return createLeases({ db, clock, ids, actor: systemActor("leases") });
  });

  // Payers.
  /** Null if the sandbox is disabled, so that its commands are refused. */
  const sandbox = once(async () => {
    const { sandboxOf } = await import("../features/payments/sandbox/sandbox.ts");
    return sandboxOf(parts) === null ? null : parts;
  });

  return {
    /** For features whose functions take the app itself. */
    app: () => Promise.resolve(parts),
    leases,
    sandbox,
    admin: once(async () => {
      const { makeAdminService } = await import("../features/admin/service.ts");
      const { walletsOf } = await import("../features/wallets/store.ts");
      const { subscriptionsOf } = await import("../features/billing/subscriptions/views.ts");
      return makeAdminService({
        db,
        clock,
        app: parts,
        walletsOf,
        subscriptionsOf: (reader: Reader, organizationIds: readonly Id<"organization">[]) =>
          subscriptionsOf(reader, parts, organizationIds),
      });
    }),
    oversight: once(async () => {
      const { makeOversight } = await import("../features/admin/cross-organization/queries.ts");
      return makeOversight(parts);
    }),
    installationStatus: once(async () => {
      const { makeInstallationStatus } = await import("./operations-status.ts");
      const { networkReadersOf } = await import("../features/payments/networks/readers.ts");
      return makeInstallationStatus(parts, {
        networks: [...enabled.values()],
        watchers: [...networkReadersOf(parts).values()].map(({ watcher }) => watcher),
        leases: await leases(),
      });
    }),
  };
}
