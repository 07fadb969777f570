// How an installation says that it stands, on both databases.
import { expect } from "chai";
import { verifyAuditLog } from "../../../src/features/audit-logs/audit-logs.ts";
import {
  approvedMerchant,
  expectStatus,
  platformAdmin,
  startApp,
  type TestApp,
} from "../../support/app.ts";
import { movingClock } from "../../support/clock.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { maintenanceSchedule } from "../../../src/compose/maintenance.ts";
import { makeFakeChain } from "../../support/chain/fake-chain.ts";
import { startFakeNode } from "../../support/chain/fake-node.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import {
  readLastReport,
  storedOperationsStatus,
} from "../../../src/features/admin/status/stored-status.ts";
import { cronCheck, ratesCheck } from "../../../src/features/admin/status/operations-status.ts";
import { serverProbes } from "../../../src/features/admin/status/servers.ts";
import { formatHead } from "../../../src/platform/audit/chain.ts";
import { writeAlarms } from "../../../src/platform/chain/state/provider-health.ts";
import { holds } from "../../../src/features/invoices/table.ts";
import { encodeAmount, meta } from "../../../src/platform/database/schema/table.ts";
import { everyMinute } from "../../../src/platform/jobs/cron-line.ts";
import { cronRuns } from "../../../src/platform/jobs/table.ts";
import { unmarked } from "../../support/amounts.ts";

interface Check {
  readonly status: string;
  readonly message: string;
}
interface Status {
  readonly checkedAt: string;
  readonly infrastructure: {
    readonly status: string;
    readonly checks: Readonly<Record<string, string>>;
    readonly messages: Readonly<Record<string, string>>;
  };
  readonly providers: readonly (Check & { readonly network: string; readonly provider: string })[];
  readonly queues: readonly object[];
  readonly webhooks: object;
  readonly auditHead: string | null;
}

const idle = { waiting: 0, active: 0, delayed: 0, failed: 0 };

eachStore("the operations status", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound({ checks: ["holds.invoice"], because: "holds are made without invoices" });

  const running: TestApp[] = [];
  afterEach(async () => {
    for (const app of running.splice(0)) await app.stop();
  });

  async function start(
    background: boolean,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly app: TestApp; readonly status: () => Promise<Status> }> {
    const place = await store.place("migrated");
    const app = await startApp({ place, background, settings, clock: movingClock() });
    running.push(app);
    const { token } = await platformAdmin(app);
    const status = async () => {
      const answer = await expectStatus(
        app.request("GET", "/v1/admin/operations/status", { token }),
        200,
      );
      return answer.body as unknown as Status;
    };
    return { app, status };
  }

  it("is ok if a server runs and reads its network", async () => {
    const { app, status } = await start(true);
    const good = await until(
      "a read network",
      status,
      ({ providers, infrastructure }) =>
        providers.every((provider) => provider.status === "ok") &&
        infrastructure.checks["cron"] === "ok",
    );
    expect(good.infrastructure.status).to.equal("ok");
    const checks = Object.entries(good.infrastructure.checks);
    const names = [
      "database",
      "migrations",
      "scheduler",
      "outbox",
      "audit",
      "cron",
      "wallets",
      "backup",
    ];
    expect(checks.map(([name]) => name)).to.deep.equal(
      app.app.db.dialect === "sqlite" ? [...names, "disk"] : names,
    );
    for (const [name, check] of checks) expect(check, name).to.equal("ok");
    const { messages } = good.infrastructure;
    expect(Object.keys(messages)).to.deep.equal(checks.map(([name]) => name));
    for (const [name, message] of Object.entries(messages)) {
      expect(message, name).to.be.a("string").and.match(/\.$/);
    }
    expect(good.providers.map(({ network, provider }) => [network, provider])).to.deep.equal([
      ["sandbox", "sandbox"],
      ["sandbox", "sandbox-witness"],
    ]);
    expect(good.providers[1]?.message).to.match(/^standby, \d+ blocks behind$/);
    expect(good.providers[0]?.message).to.match(/^read \d+ s ago, \d+ blocks behind$/);
    expect(good.queues.map((depth) => (depth as { queue: string }).queue)).to.deep.equal([
      ...["webhooks", "chain", "billing", "maintenance"],
    ]);
  });

  it("is degraded while the network has an open alarm from any server, and ok again afterward", async () => {
    const { app, status } = await start(true);
    const ofNetwork = async () => (await status()).providers[0];
    const isOk = (one: Awaited<ReturnType<typeof ofNetwork>>) => one?.status === "ok";
    await until("a read network", ofNetwork, isOk);
    const alarm = {
      kind: "providers_disagree",
      subject: "blocks 1 to 2",
      message: "differ",
    } as const;
    const write = (endedAt: number | null) =>
      app.app.db.write(testContext, (tx) =>
        writeAlarms(tx, "sandbox", [{ ...alarm, raisedAt: app.clock.now(), endedAt }], 1),
      );
    await write(null);
    expect(await ofNetwork()).to.deep.include({ status: "degraded" });
    expect((await ofNetwork())?.message).to.match(/^1 open alarm, see till chain status/);
    await write(app.clock.now());
    expect(await ofNetwork()).to.deep.include({ status: "ok" });
  });

  it("reports zero backlogs, and unknown networks and schedules if no server runs", async () => {
    const { app, status } = await start(false);
    const idleStatus = await status();
    expect(idleStatus.queues).to.deep.equal(
      ["webhooks", "chain", "billing", "maintenance"].map((queue) => ({ queue, ...idle })),
    );
    const none = { failed: 0, deadLetter: 0, pending: 0, inProgress: 0 };
    expect(idleStatus.webhooks).to.deep.equal(none);
    expect(idleStatus.providers.map((provider) => provider.status)).to.deep.equal([
      ...["unknown", "unknown"],
    ]);
    const { status: whole, checks, messages } = idleStatus.infrastructure;
    expect([whole, checks["scheduler"], checks["database"]]).to.deep.equal([
      ...["unknown", "unknown", "ok"],
    ]);
    expect(messages["cron"]).to.include("No server seems to be running");
    // A server that has just started has not checked anything.
    const report = { checks: {}, providers: [] };
    const unchecked = { server: "new", checkedAt: 1, report, settings: null, endedAt: null };
    await app.app.db.write(testContext, (tx) => tx.insert(serverProbes, unchecked));
    expect((await readLastReport(app.app.db, 2)).checkedAt).to.equal(null);
  });

  it("is degraded while an address uses at least half of the amounts of a price", async () => {
    const { app, status } = await start(false);
    const { db, ids } = app.app;
    // 101 amounts stand for a hundredth.
    const hold = (surcharge: number) =>
      db.write(testContext, (tx) =>
        tx.insert(holds, {
          id: ids.next("hold", app.clock.now()),
          network: "sandbox",
          address: "7".repeat(40),
          token: "USDT",
          amount: 10_000n + BigInt(surcharge),
          price: 10_000n,
          leastAmount: 10_000n,
          kind: "amount" as const,
          enteredAtLink: null,
          needsDecision: false,
          invoiceId: ids.next("invoice", app.clock.now()),
          organizationId: ids.next("organization", app.clock.now()),
          startsAt: 1,
          endsAt: 2,
          releasedAt: null,
          recycledAt: null,
          recyclableKey: null,
          isNewAddress: false,
          ...unmarked,
        }),
      );
    const told = async () => {
      const { checks, messages } = (await status()).infrastructure;
      return [checks["wallets"], messages["wallets"]?.match(/\d+ %/)?.[0]];
    };
    for (let surcharge = 0; surcharge < 50; surcharge += 1) await hold(surcharge);
    expect(await told()).to.deep.equal(["ok", "49 %"]);
    await hold(50);
    // All holds are read once a minute.
    app.clock.advance(minute);
    expect(await told()).to.deep.equal(["degraded", "50 %"]);
    await db.write(testContext, (tx) =>
      tx.run("UPDATE holds SET released_at = 3 WHERE amount > $1", [encodeAmount(10_040n)]),
    );
    app.clock.advance(minute);
    expect(await told()).to.deep.equal(["ok", "40 %"]);
  });

  it("is degraded if events wait to be relayed, and reports their age", async () => {
    const { app, status } = await start(false);
    await approvedMerchant(app);
    app.clock.advance(minute);
    const { checks, messages, status: whole } = (await status()).infrastructure;
    expect(checks["outbox"], messages["outbox"]).to.equal("degraded");
    expect(whole).to.equal("degraded");
  });

  it("is degraded if audit entries are not sealed or the schedule is late while a server runs", async () => {
    const { app, status } = await start(false);
    const statusNow = async () => (await status()).infrastructure;
    await approvedMerchant(app);
    expect((await statusNow()).checks["audit"]).to.equal("ok");
    app.clock.advance(2 * minute);
    const waiting = (await statusNow()).checks;
    expect([waiting["audit"], waiting["cron"]]).to.deep.equal([...["degraded", "unknown"]]);
    const ran = (at: number) =>
      app.app.db.write(testContext, (tx) =>
        tx.insertMany(
          cronRuns,
          maintenanceSchedule.map(({ name }) => ({ task: name, scheduledAt: at })),
        ),
      );
    expect(await app.app.leases.acquire("somebody", minute)).not.to.equal(null);
    await ran(app.clock.now() - 121 * minute);
    const late = await statusNow();
    expect(late.checks["cron"]).to.equal("degraded");
    expect(late.messages["cron"]).to.include("prune events");
    await ran(app.clock.now() - 119 * minute);
    expect((await statusNow()).checks["cron"]).to.equal("ok");
    await app.app.db.write(testContext, (tx) =>
      tx.insert(cronRuns, { task: "a task", scheduledAt: 0 }),
    );
    const task = { name: "a task", line: everyMinute };
    const statusAt = async (now: number) => (await cronCheck(app.app.db, now, [task], true)).status;
    expect(await statusAt(2 * minute), "after two intervals").to.equal("ok");
    expect(await statusAt(2 * minute + 1), "and a millisecond").to.equal("degraded");
  });

  it("shows the head of the audit chain, and degrades where it was altered", async () => {
    const { app, status } = await start(false);
    const { db } = app.app;
    const { head } = await verifyAuditLog(app.app, testContext, null);
    expect(head.position).to.be.greaterThan(0);
    expect((await status()).auditHead).to.equal(formatHead(head));
    const stored = await storedOperationsStatus(db, app.clock.now());
    expect(stored.auditHead).to.equal(formatHead(head));
    const name = (from: string, to: string) =>
      db.write(testContext, (tx) => tx.update(meta, { name: to }, "WHERE name = $1", [from]));
    await name("audit_head", "taken away");
    const { auditHead, infrastructure } = await status();
    expect(auditHead).to.equal(null);
    expect(infrastructure.checks["audit"]).to.equal("degraded");
    expect(infrastructure.messages["audit"]).to.include("Run till audit verify");
    await name("taken away", "audit_head");
  });

  it("reports a pending migration", async () => {
    const { app, status } = await start(false);
    await app.app.db.write(testContext, (tx) =>
      tx.run("DELETE FROM schema_versions WHERE version = 38"),
    );
    const { checks, messages, status: whole } = (await status()).infrastructure;
    expect([whole, checks["migrations"]]).to.deep.equal(["down", "down"]);
    expect(messages["migrations"]).to.include("till db migrate");
  });

  it("reports an unreachable network without the provider's path and key", async () => {
    const url = "http://127.0.0.1:9/path-with-a-key";
    const { status } = await start(true, {
      TILL_NETWORKS: "base",
      TILL_BASE_RPC_URLS: url,
    });
    const known = await until("a problem", status, ({ providers }) =>
      providers.every((provider) => provider.status === "down" && provider.message.includes("127")),
    );
    expect(known.providers[0]?.provider).to.equal("http://127.0.0.1:9");
    expect(JSON.stringify(known)).not.to.include("path-with-a-key");
    expect(known.infrastructure.status).to.equal("degraded");
  });
});

eachStore("the status of a network's providers", (store) => {
  it("lists each provider, and the installation is degraded while one is down", async () => {
    const clock = movingClock();
    const startAt = Math.floor(clock.now() / second) * second - 100 * 2 * second;
    const contract = "fde4c96c8593536e31f229ea8f37b2ada2699bb2";
    const chain = makeFakeChain({ chainId: 8_453, contract, startAt, blockMs: 2 * second });
    chain.mine([], 100);
    const node = await startFakeNode(chain);
    const dead = "http://127.0.0.1:9";
    const app = await startApp({
      place: await store.place("migrated"),
      background: true,
      clock,
      settings: { TILL_NETWORKS: "base", TILL_BASE_RPC_URLS: `${dead}/with-a-key,${node.url}` },
    });
    try {
      const { token } = await platformAdmin(app);
      const read = async () =>
        (await expectStatus(app.request("GET", "/v1/admin/operations/status", { token }), 200))
          .body as unknown as Status;
      const status = await until(
        "a dead provider and a good one",
        read,
        ({ providers: [one, two] }) =>
          one?.message.startsWith("has not responded yet") === true && two?.status === "ok",
      );
      const origin = new URL(node.url).origin;
      const shown = status.providers.map(({ network, provider, status: is }) => [
        ...[network, provider, is],
      ]);
      expect(shown).to.deep.equal([
        ["base", dead, "down"],
        ["base", origin, "ok"],
      ]);
      expect(status.providers[0]?.message).to.match(
        /^has not responded yet: http:\/\/127.0.0.1:9: /,
      );
      expect(status.infrastructure.status).to.equal("degraded");
      // For a moment, no server reads the network if its lease is renewed late.
      const ready = await until(
        "the same without hosts",
        () => app.request("GET", "/readyz"),
        ({ body }) => !JSON.stringify(body["providers"]).includes("unknown"),
      );
      expect([ready.status, ready.body["status"]]).to.deep.equal([200, "ok"]);
      expect(ready.body["providers"]).to.deep.equal([
        { network: "base", provider: 1, status: "down" },
        { network: "base", provider: 2, status: "ok" },
      ]);
      expect(JSON.stringify(ready.body)).not.to.include("127.0.0.1");
    } finally {
      await app.stop();
      await node.stop();
    }
  });

  it("is left out of /readyz, which answers 503, if the store fails after its version was read", async () => {
    const app = await startApp({ place: await store.place("migrated"), background: true });
    try {
      await until(
        "a ready server",
        () => app.request("GET", "/readyz"),
        ({ status }) => status === 200,
      );
      await app.app.db.write(testContext, (tx) =>
        tx.run("ALTER TABLE network_providers RENAME TO network_providers_gone"),
      );
      const { status, body } = await app.request("GET", "/readyz");
      await app.app.db.write(testContext, (tx) =>
        tx.run("ALTER TABLE network_providers_gone RENAME TO network_providers"),
      );
      expect(status).to.equal(503);
      expect(body).to.deep.include({
        status: "down",
        checks: { store: "down", scheduler: "ok" },
        providers: [],
      });
    } finally {
      await app.stop();
    }
  });
});

describe("the check of exchange rates", () => {
  it("is ok while every pair has a quote, and degraded if one has none", () => {
    expect(ratesCheck({ status: "ok", problems: [] }).status).to.equal("ok");
    for (const status of ["degraded", "down"] as const) {
      const check = ratesCheck({ status, problems: ["EUR/USD: stale"] });
      expect(check.status).to.equal("degraded");
      expect(check.message).to.include("EUR/USD: stale");
    }
  });
});
