import { expect } from "chai";
import { createSocket } from "node:dgram";
import { createGuard, createResolve } from "../../../src/platform/outbound/guard.ts";
import { patienceMs, until } from "../../support/until.ts";

/** The records of the name server: addresses, `null` for a name that does not exist; a missing entry gets no answer. */
type Zone = Readonly<Record<string, { v4?: string; v6?: string } | null>>;

const zone: Zone = {
  "both.example.com": { v4: "93.184.216.34", v6: "2606:4700::1111" },
  "four.example.com": { v4: "93.184.216.34" },
  "absent.example.com": null,
  localhost: null,
};

describe("resolving names", () => {
  let server: ReturnType<typeof createSocket>;
  let address: string;
  const asked: string[] = [];

  before(async () => {
    server = createSocket("udp4");
    server.on("message", (query, peer) => {
      const { name, type } = questionOf(query);
      asked.push(name);
      const answer = zone[name];
      if (answer !== undefined) server.send(answerOf(query, type, answer), peer.port, peer.address);
    });
    await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
    address = `127.0.0.1:${String(server.address().port)}`;
  });

  after(() => {
    server.close();
  });

  it("returns the addresses of both families", async () => {
    const resolve = createResolve({ servers: [address], timeoutMs: patienceMs });
    expect(await resolve("both.example.com")).to.have.members(["93.184.216.34", "2606:4700::1111"]);
    expect(await resolve("four.example.com")).to.deep.equal(["93.184.216.34"]);
  });

  it("rejects an unknown name", async () => {
    const resolve = createResolve({ servers: [address], timeoutMs: patienceMs });
    const outcome = await resolve("absent.example.com").catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(Error);
  });

  it("asks the operating system for names that the name servers do not know, such as those of the hosts file", async () => {
    const resolve = createResolve({ servers: [address], timeoutMs: patienceMs });
    expect(await resolve("localhost")).to.include("127.0.0.1");
  });

  it("gives up on a silent name server without asking the operating system", async () => {
    const resolve = createResolve({ servers: [address], timeoutMs: 20 });
    const outcome = await resolve("silent.example.com").catch((error: unknown) => error);
    expect(outcome).to.have.property("message").that.contains("did not answer in time");
    // The query may still be in the socket.
    await until(
      "the question",
      () => asked,
      (names) => names.includes("silent.example.com"),
    );
  });

  it("serves the guard", async () => {
    const guard = createGuard({
      allowCidrs: [],
      resolve: createResolve({ servers: [address], timeoutMs: patienceMs }),
    });
    const allowed = await guard.vetUrl("https://both.example.com/");
    expect(allowed).to.have.property("addresses").that.has.length(2);
    expect(await guard.vetUrl("https://absent.example.com/")).to.include({
      code: "host_not_allowed",
    });
  });
});

const headerLength = 12;

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let place = headerLength;
  for (let length = query.readUInt8(place); length > 0; length = query.readUInt8(place)) {
    labels.push(query.toString("ascii", place + 1, place + 1 + length));
    place += 1 + length;
  }
  return {
    name: labels.join(".").toLowerCase(),
    type: query.readUInt16BE(place + 1),
    end: place + 5,
  };
}

function answerOf(query: Buffer, type: number, known: { v4?: string; v6?: string } | null): Buffer {
  const text = type === 1 ? known?.v4 : type === 28 ? known?.v6 : undefined;
  const data = text === undefined ? null : type === 1 ? bytesOfV4(text) : bytesOfV6(text);
  const header = Buffer.from(query.subarray(0, headerLength));
  header.writeUInt16BE(known === null ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(data === null ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  const question = query.subarray(headerLength, questionOf(query).end);
  if (data === null) return Buffer.concat([header, question]);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(1, 6);
  record.writeUInt16BE(data.byteLength, 10);
  return Buffer.concat([header, question, record, data]);
}

function bytesOfV4(text: string): Buffer {
  return Buffer.from(text.split(".").map(Number));
}

function bytesOfV6(text: string): Buffer {
  const [head = "", tail = ""] = text.split("::");
  const start = head.split(":").filter((part) => part !== "");
  const end = tail.split(":").filter((part) => part !== "");
  const zeros = Array<string>(8 - start.length - end.length).fill("0");
  const parts = [...start, ...zeros, ...end].map((part) => part.padStart(4, "0"));
  return Buffer.from(parts.join(""), "hex");
}
