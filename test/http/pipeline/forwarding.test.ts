import { expect } from "chai";
import { day } from "../../../src/kernel/clock.ts";
import {
  proxyWarnings,
  unnamedProxy,
  untrustedForwarding,
} from "../../../src/platform/forwarding.ts";
import { silentLogger, type Logger } from "../../../src/platform/logger/index.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { anyStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

anyStore("forwarding headers without a trusted proxy", (store) => {
  let at: TestApp;
  let warned: string[];

  async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    warned = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (_given: unknown, words?: string) => {
        if (words !== undefined) warned.push(words);
      },
    };
    at = await startApp({ place: await store.place("migrated"), settings, outside: { logger } });
  }
  afterEach(() => at.stop());

  const ask = (headers: Readonly<Record<string, string>>) =>
    at.request("GET", "/v1/networks", { headers });
  const warnings = (now: number, baseUrl: string | null = null) =>
    proxyWarnings({ trustProxy: [], baseUrl }, at.app.db, now);

  it("cause one warning in the log, and at the next start for a week", async () => {
    await start();
    await ask({});
    expect(await warnings(Date.now())).to.deep.equal([]);
    for (const name of ["X-Forwarded-For", "Forwarded", "X-Real-IP"]) {
      await ask({ [name]: "203.0.113.1" });
    }
    expect(warned.filter((words) => words === untrustedForwarding)).to.have.length(1);
    const told = await until(
      "the note",
      () => warnings(Date.now()),
      (found) => found.length > 0,
    );
    expect(told).to.deep.equal([untrustedForwarding]);
    expect(await warnings(Date.now() + 8 * day)).to.deep.equal([]);
    const trusting = { trustProxy: ["10.0.0.1/32"], baseUrl: null };
    expect(await proxyWarnings(trusting, at.app.db, Date.now())).to.deep.equal([]);
  });

  it("cause a warning again each day, as long as they arrive", async () => {
    await start();
    await ask({ "X-Forwarded-For": "203.0.113.1" });
    at.clock.advance(6 * day);
    await ask({ "X-Forwarded-For": "203.0.113.1" });
    expect(warned.filter((words) => words === untrustedForwarding)).to.have.length(2);
    await until(
      "the newer note",
      () => warnings(at.clock.now() + 6 * day),
      (found) => found.length > 0,
    );
  });

  it("are not needed for a warning if links begin with https", async () => {
    await start();
    expect(await warnings(Date.now(), "https://pay.example.com")).to.deep.equal([unnamedProxy]);
    expect(await warnings(Date.now(), "http://127.0.0.1:8080")).to.deep.equal([]);
  });

  it("are used without a warning if the proxy is trusted", async () => {
    await start({ TILL_TRUST_PROXY: "127.0.0.1" });
    await ask({ "X-Forwarded-For": "203.0.113.1" });
    expect(warned).to.deep.equal([]);
  });
});
