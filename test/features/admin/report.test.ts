import { expect } from "chai";
import { lastReport, overall, type Probe } from "../../../src/features/admin/report.ts";
import type { Check } from "../../../src/features/admin/health.ts";
import { minute, second } from "../../../src/kernel/clock.ts";

const now = 1_800_000_000_000;
const ok: Check = { status: "ok", message: "Fine." };
const probe = (ago: number, checks: Record<string, Check>, network = ok): Probe => ({
  checkedAt: now - ago,
  report: { checks, providers: [{ network: "tron", provider: "https://one", ...network }] },
});

describe("what servers last found", () => {
  it("is told with its age", () => {
    const { checks, providers } = lastReport([probe(3 * second, { database: ok })], now);
    expect(checks).to.deep.equal({ database: { status: "ok", message: "Fine. (3 s ago)" } });
    expect(providers[0]).to.include({ status: "ok", message: "Fine. (3 s ago)" });
  });

  it("is of several servers what the worst off found", () => {
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

  it("is unknown once no server looks any more, with what was found last", () => {
    const { checks, providers } = lastReport(
      [probe(61 * second, { database: ok }), probe(5 * minute, { database: ok })],
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

  it("has each provider of a network once, as the worst off server found it", () => {
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

  it("of a server that is gone does not hide one that works", () => {
    const down: Check = { status: "down", message: "It was broken." };
    const { checks } = lastReport(
      [probe(10 * minute, { database: down }), probe(second, { database: ok })],
      now,
    );
    expect(checks["database"]?.status).to.equal("ok");
  });

  it("is nothing where none ever looked", () => {
    expect(lastReport([], now)).to.deep.equal({
      checks: {
        scheduler: { status: "unknown", message: "No server has run on this store yet." },
      },
      providers: [],
    });
  });
});

describe("an installation in one word", () => {
  const report = (status: Check["status"], network: Check["status"]) => ({
    checks: { database: { status, message: "" } },
    providers: [{ network: "tron", provider: "x", status: network, message: "" }],
  });

  it("is the worst of its checks, and at most degraded by a network", () => {
    expect(overall(report("ok", "ok"))).to.equal("ok");
    expect(overall(report("ok", "unknown"))).to.equal("ok");
    expect(overall(report("ok", "down"))).to.equal("degraded");
    expect(overall(report("unknown", "degraded"))).to.equal("degraded");
    expect(overall(report("down", "degraded"))).to.equal("down");
    expect(overall(report("degraded", "ok"))).to.equal("degraded");
  });
});
