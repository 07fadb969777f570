import type { App } from "../../../src/app.ts";
import type { Counts } from "../../../src/platform/metrics/metrics.ts";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import {
  createDeliverer,
  type Deliverer,
} from "../../../src/features/webhooks/delivery/deliverer.ts";
import { createWebhookEndpoint } from "../../../src/features/webhooks/endpoints.ts";
import { fanOutEvents } from "../../../src/features/webhooks/delivery/fan-out.ts";
import type { DeliveryRow } from "../../../src/features/webhooks/delivery/store.ts";
import { webhookDeliveries } from "../../../src/features/webhooks/table.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import { hour } from "../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import { createJournal } from "../../../src/platform/journal.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import type { EventType } from "../../../src/platform/events/catalogue.ts";
import { createRelay } from "../../../src/platform/events/outbox.ts";
import type { Worker } from "../../../src/platform/jobs/background.ts";
import { createLeases } from "../../../src/platform/jobs/leases.ts";
import { noMetrics } from "../../../src/platform/metrics/metrics.ts";
import { createGuard, type Guard, type Resolve } from "../../../src/platform/outbound/guard.ts";
import { createSender, type SenderLimits } from "../../../src/platform/outbound/sender.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import type { Received } from "../../support/receiver.ts";
import { farLimits } from "../../platform/outbound/sending.ts";
import { stillClock, type MovingClock } from "../../support/clock.ts";
import { appOf } from "../../support/context.ts";
import { addOrganization, enabledNetworks } from "../../support/merchants.ts";
import { serverSecret as secret } from "../../support/secret.ts";
import { testContext } from "../../support/store/stores.ts";

export interface Installation {
  readonly clock: MovingClock;
  readonly app: App;
  readonly guard: Guard;
  readonly shop: Id<"organization">;
  /** Another deliverer on the same store, as another process would have. */
  deliverer(own?: Parameters<typeof createDeliverer>[1]): Deliverer;
  /** Emits events of one object, one transaction each. */
  emit(...types: readonly EventType[]): Promise<void>;
  /** Gives events their positions and makes their deliveries. */
  relay(): Promise<void>;
  /** The same; gives how many statements the deliveries took. */
  fanOutStatements(): Promise<number>;
  /** Relays, then delivers until nothing is due any more and every outcome is recorded. */
  deliver(): Promise<void>;
  deliveries(): Promise<DeliveryRow[]>;
  /** An endpoint at a local receiver. */
  endpoint(
    port: number,
    eventTypes?: EventType[],
  ): Promise<{ readonly id: Id<"webhookEndpoint">; readonly secret: string }>;
  close(): Promise<void>;
}

export interface InstallationParts {
  readonly limits?: Partial<SenderLimits>;
  readonly clock?: MovingClock;
  /** Requests a second for each endpoint; without a limit, unless told. */
  readonly perSecond?: number;
  /** An hour, unless told: then no receiver is slow, however slow the machine is. */
  readonly slowAfterMs?: number;
  /** Half-way through what jitter may add, unless told. */
  readonly chance?: number;
  /** Ranges in which private receivers are allowed; 127.0.0.1 by default. */
  readonly allowCidrs?: readonly string[];
  /** Counts nothing, unless told. */
  readonly metrics?: Pick<Counts, "deliveryAttempted">;
  /** No name is known, unless told. */
  readonly resolve?: Resolve;
  /** Called for deliveries that may be sent soon. */
  readonly wake?: () => void;
}

/** The webhook machinery on one store, driven by hand. */
export async function install(db: Database, parts: InstallationParts = {}): Promise<Installation> {
  const clock = parts.clock ?? stillClock();
  const ids = createIds(systemRandom);
  const journal = createJournal({ ids, wake: () => undefined });
  const guard = createGuard({
    allowCidrs: parts.allowCidrs ?? ["127.0.0.1/32"],
    resolve: parts.resolve ?? (() => Promise.reject(new Error("no name is known here"))),
  });
  const context = { ...testContext, actor: systemActor("webhooks") };
  const opened: Deliverer[] = [];
  const shop = await addOrganization(db, ids, clock.now());
  const leases = createLeases({ db, clock, ids, actor: systemActor("leases") });
  const given: Partial<App> & { readonly db: Database } = {
    db,
    clock,
    ids,
    journal,
    secret,
    config: {
      webhookAllowCidrs: ["127.0.0.1/32"],
      webhookRatePerSecond: parts.perSecond ?? 0,
      databaseUrl: null,
      proxy: { http: null, https: null, except: "" },
    } as unknown as Config,
    networks: enabledNetworks(),
    running: {
      wake(worker) {
        if (worker === "webhooks") parts.wake?.();
      },
      nudge: () => undefined,
      lastTickAt: () => null,
    },
  };
  const app = appOf(given);
  let statements = 0;
  const relay = createRelay({
    db,
    leases,
    subscribers: [
      (tx, relayed) =>
        fanOutEvents(
          counting(tx, () => (statements += 1)),
          app,
          relayed,
        ),
    ],
    context,
  });
  let objectVersion = 0;

  function deliverer(own: Parameters<typeof createDeliverer>[1] = {}): Deliverer {
    const chance = Math.floor((parts.chance ?? 0.5) * 256);
    const process = appOf({
      ...given,
      randomBytes: (length) => new Uint8Array(length).fill(chance),
      metrics: { ...noMetrics, ...parts.metrics },
    });
    const made = createDeliverer(process, {
      sender: createSender({ guard, clock, limits: { ...farLimits, ...parts.limits } }),
      slowAfterMs: parts.slowAfterMs ?? hour,
      ...own,
    });
    opened.push(made);
    return made;
  }
  const first = deliverer();

  const installation: Installation = {
    clock,
    app,
    guard,
    shop,
    deliverer,
    async emit(...types) {
      await Promise.all(
        types.map((type) => {
          objectVersion += 1;
          const events = {
            types: [type],
            version: objectVersion,
            data: { id: "inv_1", amount: "25.00", note: "✓ – ünï" },
          };
          return db.write(testContext, (tx) => {
            journal.record(tx, clock.now(), {
              organizationId: shop,
              subjectType: "invoice",
              subjectId: "inv_1",
              events,
            });
            return Promise.resolve();
          });
        }),
      );
    },
    relay: () => runOut(relay),
    async fanOutStatements() {
      statements = 0;
      await installation.relay();
      return statements;
    },
    async deliver() {
      await installation.relay();
      while (await first.run(new AbortController().signal)) await first.idle();
    },
    deliveries: () => db.find(webhookDeliveries, "ORDER BY id"),
    async endpoint(port, eventTypes = []) {
      const { endpoint, secret } = await createWebhookEndpoint(app, testContext, shop, {
        url: `http://127.0.0.1:${String(port)}/hooks`,
        eventTypes,
      });
      return { id: endpoint.id, secret };
    },
    async close() {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
  return installation;
}

/** A transaction that tells of each call which makes statements. */
function counting(tx: Tx, count: () => void): Tx {
  return {
    ...tx,
    lock: (...args) => {
      count();
      return tx.lock(...args);
    },
    run: (...args) => {
      count();
      return tx.run(...args);
    },
    updateMany: (...args) => {
      count();
      return tx.updateMany(...args);
    },
    insertMany: (...args) => {
      count();
      return tx.insertMany(...args);
    },
  };
}

async function runOut(worker: Worker): Promise<void> {
  while (await worker.run(new AbortController().signal));
}

export interface Message {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly apiVersion: string;
  readonly organizationId: string;
  readonly sequence: number;
}

/**
 * Verifies a received request with the public library, using the time at which it was signed, because the tests' clock
 * may differ from the library's, and returns the message.
 */
export function verified(request: Received, secret: string): Message {
  const {
    "webhook-id": id,
    "webhook-timestamp": time,
    "webhook-signature": signature,
  } = request.headers as Record<string, string>;
  const { body } = request;
  const expected = new Webhook(secret).sign(id ?? "", new Date(Number(time) * 1_000), body);
  expect(signature).to.equal(expected);
  return JSON.parse(body) as Message;
}
