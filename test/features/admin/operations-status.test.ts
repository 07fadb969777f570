// How an installation says that it stands, on both databases.
import { expect } from "chai";
import {
  approvedMerchant,
  expectStatus,
  movingClock,
  startApp,
  type TestApp,
} from "../../support/app.ts";
import { platformAdmin } from "../../support/platform.ts";
import { eachStore, testContext } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { minute } from "../../../src/kernel/clock.ts";

interface Check {
  readonly status: string;
  readonly message: string;
}
interface Status {
  readonly checkedAt: string;
  readonly infrastructure: Check & { readonly checks: Readonly<Record<string, Check>> };
  readonly providers: readonly (Check & { readonly network: string; readonly provider: string })[];
  readonly queues: readonly object[];
  readonly webhooks: object;
}

const idle = { waiting: 0, active: 0, delayed: 0, failed: 0 };

eachStore("the status of operations", (store) => {
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

  it("is good where a server runs and reads its network", async () => {
    const { app, status } = await start(true);
    const good = await until("a read network", status, (answer) =>
      answer.providers.every((provider) => provider.status === "ok"),
    );
    expect(good.infrastructure.status).to.equal("ok");
    const checks = Object.entries(good.infrastructure.checks);
    const names = ["database", "migrations", "scheduler", "outbox", "wallets"];
    expect(checks.map(([name]) => name)).to.deep.equal(
      app.app.db.dialect === "sqlite" ? [...names, "disk"] : names,
    );
    for (const [name, check] of checks) expect(check.status, name).to.equal("ok");
    expect(good.providers.map(({ network, provider }) => [network, provider])).to.deep.equal([
      ["sandbox", "sandbox"],
    ]);
    expect(good.providers[0]?.message).to.match(/^read \d+ s ago, \d+ blocks behind$/);
    expect(good.queues.map((depth) => (depth as { queue: string }).queue)).to.deep.equal([
      ...["webhooks", "chain", "billing", "maintenance"],
    ]);
  });

  it("counts zeros, and does not know of networks and schedules where no server runs", async () => {
    const { status } = await start(false);
    const idleStatus = await status();
    expect(idleStatus.queues).to.deep.equal(
      ["webhooks", "chain", "billing", "maintenance"].map((queue) => ({ queue, ...idle })),
    );
    const none = { failed: 0, deadLetter: 0, pending: 0, inProgress: 0 };
    expect(idleStatus.webhooks).to.deep.equal(none);
    expect(idleStatus.providers.map((provider) => provider.status)).to.deep.equal(["unknown"]);
    const { status: whole, checks } = idleStatus.infrastructure;
    expect([whole, checks["scheduler"]?.status, checks["database"]?.status]).to.deep.equal([
      ...["unknown", "unknown", "ok"],
    ]);
  });

  it("degrades where events wait to be passed on, and says since when", async () => {
    const { app, status } = await start(false);
    await approvedMerchant(app);
    app.clock.advance(minute);
    const { checks, status: whole } = (await status()).infrastructure;
    expect(checks["outbox"]?.status, checks["outbox"]?.message).to.equal("degraded");
    expect(whole).to.equal("degraded");
  });

  it("names a store that lacks a migration", async () => {
    const { app, status } = await start(false);
    await app.app.db.write(testContext, (tx) =>
      tx.run("DELETE FROM schema_versions WHERE version = 8"),
    );
    const { checks, status: whole } = (await status()).infrastructure;
    expect([whole, checks["migrations"]?.status]).to.deep.equal(["down", "down"]);
    expect(checks["migrations"]?.message).to.include("till db migrate");
  });

  it("names a network that cannot be reached, without its path and key", async () => {
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
