// The whole program in a separate process, with merchants whose events go to receivers. Its argument is the options of
// `startApp` as JSON. Messages control it, and it answers each when it is done.
import { createWebhookEndpoint } from "../../../src/features/webhooks/endpoints.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import type { EventType } from "../../../src/platform/events/catalogue.ts";
import { createJournal } from "../../../src/platform/journal.ts";
import { createPrometheus } from "../../../src/platform/metrics/prometheus.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { approvedMerchant, startApp, type AppOptions } from "../../support/app.ts";
import { addOrganization } from "../../support/merchants.ts";
import { testContext } from "../../support/store/stores.ts";

/** The messages to the server; `Done` is its answers. */
export type Order =
  | { readonly do: "shops"; readonly ports: readonly number[] }
  | { readonly do: "merchant" }
  | {
      readonly do: "endpoint";
      readonly organizationId: string;
      readonly port: number;
      readonly type: EventType;
    }
  | {
      readonly do: "emit";
      readonly organizationIds: readonly string[];
      readonly each: number;
      readonly type: EventType;
    }
  | { readonly do: "unfinished" };

export interface Done {
  readonly url: string;
  readonly organizationIds: readonly string[];
  readonly key: string;
  readonly count: number;
  /** The processor time of the process so far, in milliseconds. */
  readonly cpuMs: number;
}

/** Events per transaction. */
const batchMax = 500;

const ids = createIds(systemRandom);
const options = JSON.parse(process.argv[2] ?? "{}") as AppOptions;
const metrics = createPrometheus({ version: "0", logger: silentLogger });
const here = await startApp({ ...options, outside: { metrics, strictResponses: false } });
const { db, background } = here.app;
const journal = createJournal({
  ids,
  wake: () => {
    background.wake("relay");
  },
});

async function addEndpoint(organizationId: string, port: number, type: EventType): Promise<void> {
  const url = `http://127.0.0.1:${String(port)}/hook`;
  const input = { url, eventTypes: [type] };
  await createWebhookEndpoint(here.app, testContext, organizationId as Id<"organization">, input);
}

async function emit({ organizationIds, each, type }: Extract<Order, { do: "emit" }>) {
  const owners = Array.from({ length: each }, () => organizationIds).flat();
  for (let first = 0; first < owners.length; first += batchMax) {
    await db.write(testContext, (tx) => {
      for (const organizationId of owners.slice(first, first + batchMax)) {
        const data = { id: "inv_1", amount: "25.00", status: "paid", note: "x".repeat(700) };
        journal.record(tx, Date.now(), {
          organizationId,
          subjectType: "invoice",
          subjectId: "inv_1",
          events: { types: [type], version: 1, data },
        });
      }
      return Promise.resolve();
    });
  }
}

async function obey(order: Order): Promise<Partial<Done>> {
  switch (order.do) {
    case "shops": {
      const organizationIds: string[] = [];
      for (const port of order.ports) {
        const organizationId = await addOrganization(db, ids, Date.now());
        await addEndpoint(organizationId, port, "invoice.paid");
        organizationIds.push(organizationId);
      }
      return { organizationIds };
    }
    case "merchant": {
      const { organizationId, key } = await approvedMerchant(here);
      return { organizationIds: [organizationId], key };
    }
    case "endpoint":
      await addEndpoint(order.organizationId, order.port, order.type);
      return {};
    case "emit":
      await emit(order);
      return {};
    case "unfinished": {
      const [found] = await db.all<{ count: number }>(
        `SELECT COUNT(*) AS "count" FROM webhook_deliveries WHERE due_at IS NOT NULL`,
      );
      return { count: found?.count ?? 0 };
    }
  }
}

process.on("message", (order: Order) => {
  void obey(order).then((done) => {
    const { user, system } = process.cpuUsage();
    process.send?.({ ...done, cpuMs: (user + system) / 1_000 });
  });
});
process.once("disconnect", () => {
  void here.stop().then(() => process.exit());
});
process.send?.({ url: here.url });
