import { expect } from "chai";
import { createPrometheus } from "../../src/platform/metrics/prometheus.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { approvedMerchant, startApp, type TestApp } from "../support/app.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eachStore } from "../support/store/stores.ts";
import { until } from "../support/until.ts";

const token = "a-token-of-the-tests";

/** The value of a series on the page; undefined where it is not there. */
function valueOf(page: string, series: string): number | undefined {
  const line = page.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

eachStore("the metrics", (store) => {
  let app: TestApp;
  let receiver: Receiver;

  before(async () => {
    receiver = await startReceiver();
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_METRICS_TOKEN: token, TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" },
      outside: { metrics: createPrometheus({ version: "1.2.3", logger: silentLogger }) },
    });
  });
  after(async () => {
    await app.stop();
    await receiver.close();
  });

  const scrape = async () => {
    const answer = await app.request("GET", "/metrics", { token });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("text/plain; version=0.0.4; charset=utf-8");
    return answer.text;
  };

  it("require their token and reveal nothing without it", async () => {
    for (const options of [{}, { token: "another" }, { token: `${token}x` }]) {
      const answer = await app.request("GET", "/metrics", options);
      expect(answer.status).to.equal(401);
      expect(answer.headers.get("content-type")).to.match(/^application\/problem\+json/);
    }
  });

  it("count requests by route pattern, and describe the process", async () => {
    await app.request("GET", "/v1/checkout/chk_00000000000000000000000000");
    await app.request("GET", "/nowhere/at/all");
    const page = await scrape();
    const counted = 'till_http_request_duration_seconds_count{method="GET"';
    expect(valueOf(page, `${counted},route="/v1/checkout/:checkoutId",status="404"}`)).to.equal(1);
    expect(
      valueOf(
        page,
        'till_http_request_duration_seconds_count{method="other",route="none",status="404"}',
      ),
    ).to.equal(1);
    expect(page).not.to.include("chk_0");
    expect(page).not.to.include("nowhere");
    expect(valueOf(page, 'till_build_info{version="1.2.3"}')).to.equal(1);
    expect(valueOf(page, "process_resident_memory_bytes")).to.be.above(1_000_000);
    expect(valueOf(page, "till_metrics_read_failures_total")).to.equal(0);
  });

  it("report networks, checks, queues and deliveries from the store", async () => {
    const merchant = await approvedMerchant(app);
    const { path } = merchant;
    const body = { url: receiver.url };
    await app.request("POST", `${path}/webhook-endpoints`, { key: merchant.key, body });
    await app.request("POST", `${path}/customers`, { key: merchant.key, body: { name: "Ada" } });
    const page = await until(
      "a delivery and a look around",
      scrape,
      (text) =>
        (valueOf(text, 'till_webhook_attempt_duration_seconds_count{outcome="succeeded"}') ?? 0) >=
          1 &&
        valueOf(text, 'till_check{check="database",status="ok"}') === 1 &&
        valueOf(text, 'till_network_tip_height{network="sandbox"}') !== undefined,
    );
    expect(valueOf(page, 'till_network_tip_height{network="sandbox"}')).to.be.at.least(0);
    expect(valueOf(page, 'till_network_lag_blocks{network="sandbox"}')).to.be.at.least(0);
    expect(valueOf(page, 'till_unmatched_transfers{network="sandbox"}')).to.equal(0);
    expect(valueOf(page, 'till_hold_use_ratio{network="sandbox"}')).to.equal(0);
    expect(page).to.include("# TYPE till_rates_age_seconds gauge");
    expect(page).to.include("# TYPE till_rates_sources gauge");
    expect(valueOf(page, 'till_webhook_deliveries{status="dead_letter"}')).to.equal(0);
    for (const queue of ["webhooks", "chain", "billing", "maintenance"]) {
      for (const state of ["waiting", "active", "delayed", "failed"]) {
        const series = `till_queue_jobs{queue="${queue}",state="${state}"}`;
        expect(valueOf(page, series), series).to.be.at.least(0);
      }
    }
    expect(valueOf(page, "till_outbox_oldest_seconds")).to.be.at.least(0);
  });

  it("omit values that cannot be read, and count that", async () => {
    const metrics = createPrometheus({ version: "1", logger: silentLogger });
    let isBroken = false;
    metrics.add({
      metrics: [{ name: "broken", help: "x", kind: "gauge", labels: [] }],
      read: () =>
        isBroken
          ? Promise.reject(new Error("no store"))
          : Promise.resolve({ broken: [{ labels: {}, value: 3 }] }),
    });
    metrics.add({
      metrics: [{ name: "whole", help: "x", kind: "counter", labels: ["kind"] }],
      read: () => Promise.resolve({ whole: [{ labels: { kind: "a" }, value: 7 }] }),
    });
    expect(valueOf((await metrics.scrape()).body, "broken")).to.equal(3);
    isBroken = true;
    const { body } = await metrics.scrape();
    expect(valueOf(body, "broken")).to.equal(undefined);
    expect(valueOf(body, 'whole{kind="a"}')).to.equal(7);
    expect(valueOf(body, "till_metrics_read_failures_total")).to.equal(1);
  });
});

describe("the metrics without a token", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({
      outside: { metrics: createPrometheus({ version: "1.2.3", logger: silentLogger }) },
    });
  });
  after(() => app.stop());

  it("are available only on this machine, and not through a proxy", async () => {
    expect((await app.request("GET", "/metrics")).status).to.equal(200);
    for (const name of ["X-Forwarded-For", "Forwarded"]) {
      const headers = { [name]: "for=127.0.0.1" };
      expect((await app.request("GET", "/metrics", { headers })).status, name).to.equal(404);
    }
  });
});
