// The certificate of the public URL, and the clock.
import { createServer, type Server } from "node:tls";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect } from "chai";
import {
  certificateCheck,
  clockCheckOf,
  makeCertificateCheck,
} from "../../../src/features/admin/status/outside-checks.ts";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import { readCertificate } from "../../../src/platform/outbound/certificate.ts";
import {
  expiredCertificate,
  receiverCertificate,
  receiverKey,
} from "../../platform/outbound/certificate.ts";

const now = Date.UTC(2031, 0, 31);
const host = "pay.example";
const limitMs = 5_000;

describe("the check of the certificate", () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  async function serve(cert: string): Promise<string> {
    const server = createServer({ key: receiverKey, cert }).listen(0, "127.0.0.1");
    // The reader leaves after the handshake.
    server.on("tlsClientError", () => undefined);
    server.on("secureConnection", (socket) => socket.on("error", () => undefined));
    servers.push(server);
    await once(server, "listening");
    return `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/base`;
  }

  it("reads what a server presents, trusted or not", async () => {
    const unknown = await readCertificate(await serve(receiverCertificate), limitMs);
    expect(unknown).to.deep.equal({
      validFrom: Date.UTC(2020, 0, 1),
      validTo: Date.UTC(2120, 0, 1),
      distrust: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    const expired = await readCertificate(await serve(expiredCertificate), limitMs);
    expect(expired?.validTo).to.equal(Date.UTC(2011, 0, 1));
    expect(await readCertificate("https://127.0.0.1:9", limitMs)).to.equal(null);
  });

  it("is good until two weeks before the end, and down after it", () => {
    const until = (validTo: number, distrust: string | null = null) =>
      certificateCheck(host, { validFrom: now - 60 * day, validTo, distrust }, now);
    expect(until(now + 30 * day)).to.deep.equal({
      status: "ok",
      message: "The certificate of pay.example is valid for 30 days.",
    });
    expect(until(now + 14 * day).status).to.equal("ok");
    expect(until(now + 14 * day - 1).status).to.equal("degraded");
    expect(until(now)).to.include({ status: "down" });
    const distrusted = until(now + 30 * day, "SELF_SIGNED");
    expect(distrusted.status).to.equal("degraded");
    expect(distrusted.message).to.include("do not trust");
    const from = (validFrom: number) =>
      certificateCheck(host, { validFrom, validTo: now + 30 * day, distrust: null }, now);
    expect(from(now)).to.include({ status: "ok" });
    expect(from(now + 1).status).to.equal("down");
    expect(from(now + 1).message).to.include("this server's clock");
    expect(certificateCheck(host, null, now)).to.include({ status: "ok" });
  });

  it("is read once an hour, and not at all without https", async () => {
    let [reads, at] = [0, now];
    const read = (_url: string, timeoutMs: number) => {
      expect(timeoutMs).to.equal(3 * second);
      reads += 1;
      return Promise.resolve({ validFrom: 0, validTo: now + 90 * day, distrust: null });
    };
    const check = makeCertificateCheck("https://pay.example", { now: () => at }, read);
    await check();
    at += hour - 1;
    expect(await check()).to.include({ status: "ok" });
    expect(reads).to.equal(1);
    at += 1;
    await check();
    expect(reads).to.equal(2);
    for (const url of [null, "http://pay.example"]) {
      expect(await makeCertificateCheck(url, { now: () => at }, read)()).to.equal(null);
    }
  });
});

describe("the check of a certificate that cannot be read", () => {
  it("is made again after five minutes", async () => {
    let [reads, at] = [0, now];
    const read = () => {
      reads += 1;
      return Promise.resolve(null);
    };
    const check = makeCertificateCheck("https://pay.example", { now: () => at }, read);
    for (const wait of [0, 5 * minute - 1, 1]) {
      at += wait;
      expect((await check())?.message).to.include("pay.example cannot be reached");
    }
    expect(reads).to.equal(2);
  });
});

describe("the check of the clock", () => {
  const network = (id: string, isSimulated = false) => ({ id, title: id, kind: { isSimulated } });
  const states = (ahead: number) =>
    new Map([["tron", { tipTime: now + ahead, scannedAt: now }]]) as never;

  it("is behind if a block is from the future, and unknown without a real network", () => {
    const networks = [network("tron"), network("sandbox", true)];
    expect(clockCheckOf(states(-4 * second), networks)).to.include({ status: "ok" });
    expect(clockCheckOf(states(30 * second), networks)).to.include({ status: "ok" });
    expect(clockCheckOf(states(31 * second), networks)).to.deep.equal({
      status: "degraded",
      message: "The clock is at least 31 s behind tron. Check the time service.",
    });
    expect(clockCheckOf(states(0), [network("sandbox", true)])).to.equal(null);
    const ahead = (seconds: number) => ({ tipTime: now + seconds * second, scannedAt: now });
    const several = new Map([
      ["tron", ahead(-4)],
      ["base", ahead(40)],
      ["sandbox", ahead(90)],
    ]);
    const found = clockCheckOf(several, [...networks, network("base")]);
    expect(found?.message).to.include("at least 40 s behind base");
  });
});
