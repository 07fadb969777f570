import { expect } from "chai";
import type { Resolve } from "../../../src/platform/outbound/guard.ts";
import { expiredCertificate, receiverCertificate } from "./certificate.ts";
import { startReceiver } from "../../support/receiver.ts";
import { body, expectError, post, toLoopback, useSending } from "./sending.ts";

describe("the sender of outbound requests", () => {
  const { receiver, peer, senderOf } = useSending();

  describe("with an ordinary receiver", () => {
    it("posts the exact bytes, with the original host", async () => {
      const { port, requests } = await receiver((_, response) =>
        response.writeHead(201).end("made"),
      );
      const url = `http://receiver.test:${String(port)}/in?a=1`;
      const result = await senderOf().send(post(url, { "webhook-id": "evt_1" }));
      expect(result).to.include({
        outcome: "response",
        status: 201,
        bodyExcerpt: "made",
        retryAfterMs: null,
      });
      expect(requests).to.have.length(1);
      expect(requests[0]?.bytes.equals(body)).to.equal(true);
      expect(requests[0]).to.include({ method: "POST", path: "/in?a=1" });
      expect(requests[0]?.headers).to.include({
        host: `receiver.test:${String(port)}`,
        "content-type": "application/json",
        "content-length": String(body.byteLength),
        "webhook-id": "evt_1",
        "accept-encoding": "identity",
      });
    });

    it("keeps the connection alive and resolves the name once for it", async () => {
      let resolved = 0;
      const resolve: Resolve = (host) => {
        resolved += 1;
        return toLoopback(host);
      };
      const { port, requests, connections } = await receiver();
      const sender = senderOf({ resolve });
      for (let count = 0; count < 5; count += 1) {
        const result = await sender.send(post(`http://receiver.test:${String(port)}/`));
        expect(result).to.include({ outcome: "response", status: 200 });
      }
      expect({ requests: requests.length, connections: connections(), resolved }).to.deep.equal({
        requests: 5,
        connections: 1,
        resolved: 1,
      });
    });

    it("retries once if a kept-alive connection turns out to be closed", async () => {
      let served = 0;
      const { port, connections } = await peer((socket) => {
        let isFirst = true;
        socket.on("data", () => {
          if (!isFirst) {
            socket.resetAndDestroy();
            return;
          }
          isFirst = false;
          served += 1;
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });
      });
      const sender = senderOf();
      const url = `http://receiver.test:${String(port)}/`;
      expect(await sender.send(post(url))).to.include({ outcome: "response", status: 200 });
      expect(await sender.send(post(url))).to.include({ outcome: "response", status: 200 });
      expect({ served, connections: connections() }).to.deep.equal({ served: 2, connections: 2 });
    });

    it("sends many at once", async () => {
      const { port, requests } = await receiver();
      const sender = senderOf();
      const sent = Array.from({ length: 200 }, () =>
        sender.send(post(`http://receiver.test:${String(port)}/`)),
      );
      const results = await Promise.all(sent);
      expect(results.every((result) => result.outcome === "response")).to.equal(true);
      expect(requests).to.have.length(200);
    });

    it("reads Retry-After in seconds and as a date", async () => {
      const answers = ["120", new Date(Date.now() + 3_600_000).toUTCString(), "soon", "-1", "1e9"];
      const { port } = await receiver((_, response) =>
        response.writeHead(429, { "retry-after": answers.shift() ?? "" }).end(),
      );
      const sender = senderOf();
      const waits: (number | null)[] = [];
      for (let count = 0; count < 5; count += 1) {
        const result = await sender.send(post(`http://receiver.test:${String(port)}/`));
        waits.push(result.outcome === "response" ? result.retryAfterMs : -1);
      }
      expect(waits[0]).to.equal(120_000);
      expect(waits[1]).to.be.within(3_500_000, 3_600_000);
      expect(waits.slice(2)).to.deep.equal([null, null, null]);
    });

    it("keeps an excerpt that every database can store", async () => {
      const { port } = await receiver((_, response) =>
        response.end(
          Buffer.concat([
            Buffer.from("a\0b"),
            Buffer.from([0xff, 0xfe]),
            Buffer.from("é".repeat(4_000)),
          ]),
        ),
      );
      const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      const excerpt = result.outcome === "response" ? result.bodyExcerpt : "";
      expect(excerpt.startsWith("ab\ufffd\ufffdéé")).to.equal(true);
      expect(excerpt.slice(4)).to.match(/^é+$/);
      expect(excerpt.length).to.be.within(2_000, 4_096);
    });

    it("uses the original name for TLS", async () => {
      const { port } = await receiver(undefined, receiverCertificate);
      const sender = senderOf({ ca: receiverCertificate });
      const url = `https://receiver.test:${String(port)}/`;
      expect(await sender.send(post(url))).to.include({ outcome: "response", status: 200 });
      const literal = await sender.send(post(`https://127.0.0.1:${String(port)}/`));
      expect(literal).to.include({ outcome: "response", status: 200 });
    });

    it("tries the next address if one does not answer", async () => {
      const { port } = await receiver();
      const sender = senderOf({ resolve: () => Promise.resolve(["127.0.0.2", "127.0.0.1"]) });
      const result = await sender.send(post(`http://receiver.test:${String(port)}/`));
      expect(result).to.include({ outcome: "response", status: 200 });
    });
  });

  describe("reports the reason of a failed request", () => {
    it("a name that does not resolve", async () => {
      const resolve: Resolve = () => Promise.reject(new Error("getaddrinfo ENOTFOUND absent.test"));
      expectError(await senderOf({ resolve }).send(post("https://absent.test/")), "dns");
    });

    it("a name server that does not answer", async () => {
      const resolve: Resolve = () => new Promise(() => undefined);
      const result = await senderOf({ resolve, dnsMs: 30 }).send(post("https://slow.test/"));
      expectError(result, "dns");
    });

    it("a closed port", async () => {
      const { port, close } = await startReceiver();
      await close();
      expectError(await senderOf().send(post(`http://receiver.test:${String(port)}/`)), "connect");
      expectError(await senderOf().send(post(`http://127.0.0.1:${String(port)}/`)), "connect");
    });

    it("a certificate of an unknown authority, for another name, or expired", async () => {
      const known = await receiver(undefined, receiverCertificate);
      const expired = await receiver(undefined, expiredCertificate);
      const unknown = await senderOf().send(post(`https://receiver.test:${String(known.port)}/`));
      expectError(unknown, "tls");
      expect(unknown).to.have.property("message").that.contains("self-signed");
      const sender = senderOf({ ca: receiverCertificate });
      const wrongName = await sender.send(post(`https://stranger.test:${String(known.port)}/`));
      expectError(wrongName, "tls");
      expect(wrongName).to.have.property("message").that.contains("another host name");
      const past = await senderOf({ ca: expiredCertificate }).send(
        post(`https://receiver.test:${String(expired.port)}/`),
      );
      expectError(past, "tls");
      expect(past).to.have.property("message").that.contains("expired");
      expect(known.requests).to.have.length(0);
    });

    it("a plain receiver behind an https URL", async () => {
      const { port } = await receiver();
      expectError(await senderOf().send(post(`https://receiver.test:${String(port)}/`)), "tls");
    });

    it("a peer that closes the connection before or during its response", async () => {
      const hangsUp = await peer((socket) => socket.once("data", () => socket.destroy()));
      expectError(
        await senderOf().send(post(`http://receiver.test:${String(hangsUp.port)}/`)),
        "reset",
      );
      const cuts = await peer((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")),
      );
      expectError(
        await senderOf().send(post(`http://receiver.test:${String(cuts.port)}/`)),
        "reset",
      );
    });

    it("a peer that does not speak HTTP", async () => {
      const { port } = await peer((socket) => socket.write("220 mail.test ESMTP\r\n"));
      expectError(await senderOf().send(post(`http://receiver.test:${String(port)}/`)), "protocol");
    });

    it("a peer that switches the protocol", async () => {
      const { port } = await peer((socket) =>
        socket.once("data", () =>
          socket.write(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
          ),
        ),
      );
      const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
      expect(result).to.include({ outcome: "response", status: 101 });
    });

    it("that the server is stopping", async () => {
      const { port } = await receiver(() => undefined);
      const sender = senderOf();
      const sending = sender.send(post(`http://receiver.test:${String(port)}/`));
      sender.close();
      expectError(await sending, "reset");
      expectError(await sender.send(post(`http://receiver.test:${String(port)}/`)), "reset");
    });
  });
});
