// The bounds of the checks, without a server.
import { tmpdir } from "node:os";
import { expect } from "chai";
import type { Check } from "../../../../src/features/admin/status/health.ts";
import {
  diskCheck,
  runChecks,
  walletsCheck,
} from "../../../../src/features/admin/status/operations-status.ts";
import type { App } from "../../../../src/app.ts";
import { hooks } from "../../../../src/hooks.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { events } from "../../../../src/platform/events/outbox.ts";
import { noRates } from "../../../../src/platform/rates/plan.ts";
import { enabledNetworks } from "../../../support/merchants.ts";
import { stillClock } from "../../../support/clock.ts";
import { appOf, newIds, testConfig } from "../../../support/context.ts";
import { serverSecret } from "../../../support/secret.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);
const mebibyte = 1_024 ** 2;

anyStore("the checks of an installation", (store) => {
  const clock = stillClock(now);
  const ids = newIds();
  let db: Database;
  before(async () => {
    db = await store.open();
  });

  const settings: Config = {
    ...testConfig,
    backupSchedule: null,
    baseUrl: null,
    databaseUrl: "postgres://elsewhere.example",
    dataDir: tmpdir(),
    rates: noRates,
  };
  const networks = enabledNetworks();
  const ticking = (lastTickAt: number) => ({
    wake: () => undefined,
    nudge: () => undefined,
    lastTickAt: () => lastTickAt,
  });
  const parts = {
    clock,
    secret: serverSecret,
    config: settings,
    networks,
    hooks: { ...hooks, maintenanceTasks: () => Promise.resolve([]) },
  };
  const checksWith = async (changes: Partial<App>, on: Database = db) => {
    const app = appOf({ ...parts, db: on, running: ticking(now), ...changes });
    return (await runChecks(app, testContext)).checks;
  };
  const told = (check: Check | undefined) => `${check?.status ?? ""}: ${check?.message ?? ""}`;

  it("are those that the installation has", async () => {
    const names = ["database", "migrations", "scheduler", "outbox", "audit", "cron"];
    names.push("wallets", "backup");
    const checks = await checksWith({});
    expect(Object.keys(checks)).to.deep.equal(names);
    for (const [name, { status }] of Object.entries(checks)) expect(status, name).to.equal("ok");
    const pair = { name: "EUR/USD", fixed: null, sources: [] };
    const more = await checksWith({
      config: {
        ...settings,
        rates: { ...noRates, pairs: [pair as never] },
        baseUrl: "https://127.0.0.1:1",
        databaseUrl: null,
      },
    });
    expect(Object.keys(more)).to.deep.equal([...names, "rates", "disk", "certificate"]);
  });

  it("of the disk warn below a gibibyte, and fail below 64 MiB", () => {
    const free = (bytes: number) => told(diskCheck(bytes));
    expect(free(1_024 * mebibyte)).to.equal("ok: 1024 MiB free.");
    expect(free(1_024 * mebibyte - 1)).to.equal("degraded: 1023 MiB free.");
    expect(free(64 * mebibyte)).to.equal("degraded: 64 MiB free.");
    expect(free(64 * mebibyte - 1)).to.equal("down: 63 MiB free.");
  });

  it("of the store warn if a write takes more than a second, and fail after 15", async () => {
    const took = async (milliseconds: number) => {
      const slow: Database = {
        ...db,
        write(context, work) {
          clock.advance(milliseconds);
          return db.write(context, work);
        },
      };
      const { database } = await checksWith({}, slow);
      return told(database);
    };
    expect(await took(second)).to.equal("ok: A write took 1000 ms.");
    expect(await took(second + 1)).to.equal("degraded: A write took 1001 ms.");
    expect(await took(15 * second)).to.equal("degraded: A write took 15000 ms.");
    expect(await took(15 * second + 1)).to.equal("down: A write took 15001 ms.");
  });

  it("of the scheduler warn after five seconds of silence, and fail after 15", async () => {
    const silent = async (silence: number) =>
      told((await checksWith({ running: ticking(clock.now() - silence) }))["scheduler"]);
    expect(await silent(5 * second)).to.equal("ok: It last ran 5000 ms ago.");
    expect(await silent(5 * second + 1)).to.equal("degraded: It last ran 5001 ms ago.");
    expect(await silent(15 * second)).to.equal("degraded: It last ran 15000 ms ago.");
    expect(await silent(15 * second + 1)).to.equal("down: It last ran 15001 ms ago.");
    expect(await silent(-second)).to.equal("ok: It last ran 0 ms ago.");
  });

  it("of the scheduler and the schedule are unknown unless a server runs", async () => {
    const without = { running: null };
    const none = await checksWith(without);
    expect([none["scheduler"]?.status, none["cron"]?.status]).to.deep.equal(["unknown", "unknown"]);
    const { leases } = appOf({ db, clock });
    expect(await leases.acquire("somebody", minute)).not.to.equal(null);
    const other = await checksWith(without);
    expect(told(other["scheduler"])).to.equal("ok: A server is running on this store.");
    expect(other["cron"]?.status).to.equal("ok");
  });

  it("of the outbox warn if an event has waited for 30 seconds, and fail after ten minutes", async () => {
    const event = {
      id: ids.next("event", now),
      organizationId: "org_1",
      type: "invoice.paid",
      apiVersion: "v1",
      objectType: "invoice",
      objectId: "inv_1",
      objectVersion: 1,
      payload: {},
      occurredAt: 0,
      position: null,
      supersededAt: null,
    };
    await db.write(testContext, (tx) => tx.insert(events, event));
    const waited = async (age: number) => {
      const occurredAt = clock.now() - age;
      await db.write(testContext, (tx) =>
        tx.update(events, { occurredAt }, "WHERE id = $1", [event.id]),
      );
      const { outbox } = await checksWith({});
      return told(outbox);
    };
    const waits = (age: number) => `The oldest event has waited ${String(age)} ms.`;
    expect(await waited(30 * second)).to.equal(`ok: ${waits(30_000)}`);
    expect(await waited(30 * second + 1)).to.equal(`degraded: ${waits(30_001)}`);
    expect(await waited(10 * minute)).to.equal(`degraded: ${waits(600_000)}`);
    expect(await waited(10 * minute + 1)).to.equal(`down: ${waits(600_001)}`);
    expect(await waited(-second)).to.equal(`ok: ${waits(0)}`);
  });

  it("of the payment amounts name the price with the largest used share", () => {
    const token = { symbol: "USDT", decimals: 6 };
    const use = (price: bigint, used: number) =>
      ({ price, used, total: 100, network: "tron", token }) as never;
    const busiest = walletsCheck([use(1_000_000n, 20), use(25_000_000n, 60)]);
    expect(told(busiest)).to.equal(
      "degraded: The busiest address uses 60 % of its payment amounts near 25.00 USDT on tron.",
    );
  });
});
