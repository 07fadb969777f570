import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import type { Id } from "../../../src/kernel/id.ts";
import { day } from "../../../src/kernel/clock.ts";
import { billingState } from "../../../src/features/billing/table.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { runBilling, type RunResult } from "../../../src/features/billing/lifecycle/worker.ts";
import {
  approvedMerchant,
  expectStatus,
  keyOf,
  logIn,
  platformAdmin,
  startApp,
  type Answer,
  type Json,
  type Merchant,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { movingClock, type MovingClock } from "../../support/clock.ts";
import { xpubs } from "../../support/merchants.ts";
import { payInvoice, playSandbox } from "../../support/sandbox.ts";
import { testContext } from "../../support/store/stores.ts";

export interface OpenInvoice {
  readonly id: Id<"platformInvoice">;
  readonly status: string;
  readonly total: string;
  readonly checkoutUrl: string;
  readonly merchantInvoicePublicId: string;
}

/** A subscription as the API shows it. */
export interface Shown {
  readonly id: string;
  readonly plan: string;
  readonly status: string;
  readonly currentPeriodStart: string;
  readonly currentPeriodEnd: string;
  readonly trialEndsAt: string | null;
  readonly pendingPlan: string | null;
  readonly planChangeEffectiveAt: string | null;
  readonly openInvoice: OpenInvoice | null;
}

/** 31 January 2026, 10:00 UTC. */
export const lastOfJanuary = Date.UTC(2026, 0, 31, 10);

export interface EstateOptions {
  readonly place: StoreOptions;
  readonly settings?: Readonly<Record<string, string>>;
  readonly start?: number;
  /** Replaces the default clock, which runs on from `start`. */
  readonly clock?: MovingClock;
  /** The platform's receive wallet; an extended key by default, null: none. */
  readonly receive?: { readonly xpub: string } | { readonly address: string } | null;
}

/**
 * Opens a platform that bills on the sandbox without background workers: the test moves the clock, mines blocks and
 * runs billing.
 */
export async function openEstate(options: EstateOptions) {
  const { place, settings, receive } = options;
  const clock = options.clock ?? movingClock(options.start ?? lastOfJanuary);
  const app = await startApp({
    place,
    clock,
    background: false,
    settings: { TILL_BILLING: "on", TILL_SANDBOX_BLOCK_MS: "0", ...settings },
  });
  const { db } = app.app;
  const { mine, look } = await playSandbox(app);
  const admin = await platformAdmin(app);
  const wallet = receive === undefined ? { xpub: xpubs.first } : receive;
  if (wallet !== null) await setReceiveWallet(app, admin, wallet);

  /** Stores a heartbeat, so that billing sees no downtime however far the clock was moved. */
  async function keepAwake(): Promise<void> {
    await db.write(testContext, (tx) =>
      tx.update(billingState, { heartbeatAt: clock.now() }, "WHERE id = 'billing'"),
    );
  }

  await mine();

  const subscriptionPath = ({ path }: Merchant) => `${path}/billing/subscription`;

  return {
    app,
    db,
    clock,
    admin,
    mine,
    look,
    keepAwake,
    tokenOf: (person: Person) => logIn(app, person),
    run: (): Promise<RunResult> => runBilling(app.app),

    /** Advances the clock by days without downtime, then runs billing. */
    async live(days: number): Promise<RunResult> {
      clock.advance(days * day);
      await keepAwake();
      await mine();
      return runBilling(app.app);
    },

    /** Advances the clock by days of downtime, then runs billing. */
    async sleep(days: number): Promise<RunResult> {
      clock.advance(days * day);
      return runBilling(app.app);
    },

    merchant: () => approvedMerchant(app),

    /** The secret of an API key for platform operations. */
    platformKey: await keyOf(app, admin, "platform"),
    select: async (merchant: Merchant, plan: string): Promise<Answer> =>
      app.request("POST", `${subscriptionPath(merchant)}/select`, {
        token: await logIn(app, merchant),
        body: { plan },
      }),
    change: async (merchant: Merchant, plan: string): Promise<Answer> =>
      app.request("PATCH", subscriptionPath(merchant), {
        token: await logIn(app, merchant),
        body: { plan },
      }),
    subscription: async (merchant: Merchant): Promise<Shown> =>
      (await merchant.get("/billing/subscription")) as unknown as Shown,

    /** Returns all platform invoices of a merchant, oldest first. */
    invoices: async (merchant: Merchant): Promise<Json[]> =>
      (await merchant.list("/billing/invoices?limit=100")).reverse(),

    /**
     * Sends tokens to a collection invoice of a platform invoice, by default the newest: `units`, or the whole
     * remaining amount.
     */
    async send(platformInvoiceId: string, units?: bigint, twinId?: string): Promise<void> {
      await payInvoice(app, twinId ?? (await twinsOf(db, platformInvoiceId)).at(-1), units);
    },

    /** Sends tokens as `send` does, and mines until they are confirmed. */
    async pay(platformInvoiceId: string, units?: bigint): Promise<void> {
      await this.send(platformInvoiceId, units);
      await mine(4);
    },

    collectionInvoices: (platformInvoiceId: string) => twinsOf(db, platformInvoiceId),
    stop: () => app.stop(),
  };
}

export type Estate = Awaited<ReturnType<typeof openEstate>>;

async function twinsOf(db: TestApp["app"]["db"], platformInvoiceId: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    'SELECT twin_id AS "id" FROM platform_invoice_twins WHERE platform_invoice_id = $1 ORDER BY twin_id',
    [platformInvoiceId],
  );
  return rows.map(({ id }) => id);
}

export async function setReceiveWallet(
  app: TestApp,
  admin: Person,
  receiver: { readonly xpub: string } | { readonly address: string },
): Promise<void> {
  const { token } = admin;
  const made = await expectStatus(
    app.request("POST", `${admin.path}/wallets`, {
      token,
      body: { label: "Platform", network: "sandbox", ...receiver },
    }),
    201,
  );
  await expectStatus(
    app.request("PUT", "/v1/admin/billing/receive-wallet", {
      token,
      body: { walletId: made.body["id"], tokenSymbol: "USDT" },
    }),
    200,
  );
}

/** Writes plans to a file for `TILL_PLANS_FILE`, which is deleted when the process exits. */
export function plansFile(
  plans: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): string {
  const folder = mkdtempSync(join(tmpdir(), "till plans "));
  process.once("exit", () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const shipped = new URL("../../../config/plans.yaml", import.meta.url);
  const { billing } = parse(readFileSync(shipped, "utf8")) as { billing: object };
  const like = {
    description: "Of a test.",
    currency: "USD",
    interval: "month",
    trialDays: 0,
    includedInvoices: null,
    overagePrice: null,
    features: [],
  };
  const file = join(folder, "plans.yaml");
  const entries = Object.entries(plans).map(([id, plan]) => [id, { name: id, ...like, ...plan }]);
  writeFileSync(file, stringify({ billing, plans: Object.fromEntries(entries) as object }));
  return file;
}

/** Returns the types of an organization's events, in order. */
export async function eventsOf(estate: Estate, organizationId: string): Promise<string[]> {
  const rows = await estate.db.all<{ type: string }>(
    `SELECT type AS "type" FROM events WHERE organization_id = $1 AND
       (type LIKE 'subscription.%' OR type LIKE 'platform_invoice.%' OR type LIKE 'credit.%' OR type LIKE 'usage.%')
     ORDER BY id`,
    [organizationId],
  );
  return rows.map(({ type }) => type);
}
