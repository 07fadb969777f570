import { expect } from "chai";
import { lastReport, overall, type Probe } from "../../../src/features/admin/status/servers.ts";
import type { Check } from "../../../src/features/admin/status/health.ts";
import { minute, second } from "../../../src/kernel/clock.ts";

const now = 1_800_000_000_000;
const ok: Check = { status: "ok", message: "Fine." };
const probe = (ago: number, checks: Record<string, Check>, network = ok): Probe => ({
  checkedAt: now - ago,
  report: { checks, providers: [{ network: "tron", provider: "https://one", ...network }] },
});

describe("the servers' last report", () => {
  it("includes its age", () => {
    const { checks, providers } = lastReport([probe(3 * second, { database: ok })], now);
    expect(checks).to.deep.equal({ database: { status: "ok", message: "Fine. (3 s ago)" } });
    expect(providers[0]).to.include({ status: "ok", message: "Fine. (3 s ago)" });
    const ahead = lastReport([probe(-2 * second, { database: ok })], now);
    expect(ahead.checks["database"]?.message).to.equal("Fine. (0 s ago)");
  });

  it("has the worst result of several servers", () => {
    const bad: Check = { status: "degraded", message: "The disk is nearly full." };
    const away: Check = { status: "down", message: "Nobody answers." };
    const { checks, providers } = lastReport(
      [
        probe(1 * second, { disk: ok, database: ok }),
        probe(9 * second, { disk: bad, database: ok }, away),
      ],
      now,
    );
    expect(checks["disk"]).to.deep.equal({
      status: "degraded",
      message: "The disk is nearly full. (9 s ago)",
    });
    expect(checks["database"]?.message).to.equal("Fine. (1 s ago)");
    expect(providers).to.deep.equal([
      {
        network: "tron",
        provider: "https://one",
        status: "down",
        message: "Nobody answers. (9 s ago)",
      },
    ]);
  });

  it("is unknown once no server runs, with the last results", () => {
    const { checks, providers } = lastReport(
      [probe(5 * minute, { database: ok }), probe(61 * second, { database: ok })],
      now,
    );
    expect(checks).to.deep.equal({
      database: { status: "unknown", message: "Fine. (as of 61 s ago)" },
      scheduler: {
        status: "unknown",
        message: "No server is running on this store; the last one ran its checks 61 s ago.",
      },
    });
    expect(providers[0]?.status).to.equal("unknown");
    expect(lastReport([probe(60 * second, { database: ok })], now).checks["database"]).to.include({
      status: "ok",
    });
  });

  it("has each provider of a network once, with the worst server's result", () => {
    const of = (one: Check["status"], two: Check["status"]): Probe => ({
      checkedAt: now,
      report: {
        checks: {},
        providers: [
          { network: "tron", provider: "https://one", status: one, message: "1" },
          { network: "tron", provider: "https://two", status: two, message: "2" },
        ],
      },
    });
    const { providers } = lastReport([of("ok", "down"), of("degraded", "ok")], now);
    expect(providers.map(({ provider, status }) => [provider, status])).to.deep.equal([
      ["https://one", "degraded"],
      ["https://two", "down"],
    ]);
  });

  it("ignores a stopped server if another one runs", () => {
    const down: Check = { status: "down", message: "It was broken." };
    const { checks } = lastReport(
      [probe(10 * minute, { database: down }), probe(second, { database: ok })],
      now,
    );
    expect(checks["database"]?.status).to.equal("ok");
  });

  it("is empty if no server ever ran", () => {
    expect(lastReport([], now)).to.deep.equal({
      checks: {
        scheduler: { status: "unknown", message: "No server has run on this store yet." },
      },
      providers: [],
    });
  });
});

describe("the status of the installation", () => {
  const report = (status: Check["status"], network: Check["status"]) => ({
    checks: { database: { status, message: "" } },
    providers: [{ network: "tron", provider: "x", status: network, message: "" }],
  });

  it("is the worst of its checks, and at most degraded because of a network", () => {
    expect(overall(report("ok", "ok"))).to.equal("ok");
    expect(overall(report("ok", "unknown"))).to.equal("ok");
    expect(overall(report("ok", "down"))).to.equal("degraded");
    expect(overall(report("unknown", "degraded"))).to.equal("degraded");
    expect(overall(report("down", "degraded"))).to.equal("down");
    expect(overall(report("degraded", "ok"))).to.equal("degraded");
    const { checks, providers } = report("ok", "ok");
    const [first] = report("ok", "down").providers;
    expect(overall({ checks, providers: [...providers, ...(first ? [first] : [])] })).to.equal(
      "degraded",
    );
  });
});
