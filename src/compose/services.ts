import type { SandboxService } from "../features/payments/sandbox/service.ts";
import { systemActor } from "../kernel/actor.ts";
import type { Id } from "../kernel/id.ts";
import type { Reader } from "../platform/database/database.ts";
import { once } from "../platform/once.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
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
  const { db, journal, secret, clock, ids, baseUrl } = parts;
  const { known, enabled } = parts.networks;
  const common = { db, clock, ids, journal };

  const leases = once(async () => {
    const { createLeases } = await import("../platform/jobs/leases.ts");
    return createLeases({ db, clock, ids, actor: systemActor("leases") });
  });

  // Payments and refunds.
  const settlement = once(async () => (await import("./ledger.ts")).settlementOf(parts));
  const ledger = once(async () => {
    const { ledgerOf } = await import("./ledger.ts");
    return ledgerOf(parts, await settlement());
  });

  // Payers.
  const sandbox = once(async (): Promise<SandboxService | null> => {
    const { sandboxOf } = await import("./chains.ts");
    const simulated = sandboxOf(parts, [...enabled.values()]);
    if (simulated === null) return null;
    const { makeSandboxService } = await import("../features/payments/sandbox/service.ts");
    const { watchWorkerName } = await import("../features/payments/worker.ts");
    const wakeWatcher = () => {
      parts.running?.wake(watchWorkerName(simulated.network.id));
    };
    return makeSandboxService({ app: parts, db, clock, ...simulated, wake: wakeWatcher });
  });
  const checkout = once(async () => {
    const { makeCheckoutService } = await import("../features/checkout/service.ts");
    const { makeCheckoutSources } = await import("../features/checkout/sources.ts");
    const { chooseOption } = await import("../features/invoices/options/choose.ts");
    const { makeHashClaims } = await import("../features/payments/hash-claims/submit-claim.ts");
    const { makePayerRefunds } = await import("../features/refunds/payer/payer-refunds.ts");
    const { makeCheckoutSandbox } = await import("./checkout-sandbox.ts");
    const { refunding, nudgeExaminer: nudge } = await ledger();
    const simulated = await sandbox();
    return makeCheckoutService({
      db,
      clock,
      networks: known,
      enabled: new Set(enabled.keys()),
      baseUrl,
      pageKey: deriveKey(secret, "refund-forms"),
      sources: makeCheckoutSources({ db, baseUrl }),
      claims: makeHashClaims({ ...common, invoices: await settlement(), nudge }),
      refunds: makePayerRefunds(refunding),
      choose: (tx, checkoutId, chosen, at) => chooseOption(tx, parts, at, checkoutId, chosen),
      sandbox: simulated === null ? null : makeCheckoutSandbox(parts, simulated),
    });
  });

  return {
    /** For features whose functions take the app itself. */
    app: () => Promise.resolve(parts),
    leases,
    settlement,
    decisions: once(async () => (await ledger()).decisions),
    transfers: once(async () => (await ledger()).transfers),
    refunds: once(async () => (await ledger()).refunds),
    chains: once(async () => (await ledger()).chains),
    watchers: once(async () => (await ledger()).watchers),
    examiners: once(async () => (await ledger()).examiners),
    monitors: once(async () => (await ledger()).monitors),
    pools: once(async () => (await ledger()).pools),
    sandbox,
    checkout,
    paymentLinks: once(async () => {
      const { makePaymentLinkService } = await import("../features/payment-links/service.ts");
      return makePaymentLinkService({
        ...common,
        baseUrl,
        networks: known,
        enabled: new Set(enabled.keys()),
        app: parts,
      });
    }),
    receipts: once(async () => {
      const { makeReceiptService } = await import("../features/receipts/service.ts");
      const { makeReceiptKeys } = await import("../features/receipts/keys.ts");
      return makeReceiptService({
        clock,
        checkout: await checkout(),
        networks: known,
        baseUrl,
        keys: makeReceiptKeys({ db, clock, journal, secret }),
      });
    }),
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
      return makeInstallationStatus(parts, {
        networks: [...enabled.values()],
        watchers: (await ledger()).watchers,
        leases: await leases(),
      });
    }),
  };
}
