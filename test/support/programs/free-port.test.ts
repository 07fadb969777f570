import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { expect } from "chai";
import { freePort } from "./free-port.ts";

const range = "32768\t60999\n";

describe("A free port", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function listen(port: number): Promise<void> {
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
  }

  it("is below the kernel's range, and another one each time", async () => {
    const ports = [await freePort(range), await freePort(range), await freePort(range)];
    for (const port of ports) expect(port).to.be.within(20_000, 32_767);
    expect(new Set(ports).size).to.equal(3);
  });

  it("is none on which a server listens", async () => {
    const first = await freePort(range);
    const next = first === 32_767 ? 20_000 : first + 1;
    // If this fails, another process listens on it.
    await listen(next).catch(() => undefined);
    expect(await freePort(range)).not.to.equal(next);
  });

  it("is one of the kernel's if all below are taken", async () => {
    await listen(20_000).catch(() => undefined);
    expect(await freePort("20001 60999")).to.be.greaterThan(20_000);
  });

  it("is one of the kernel's if it leaves none below, or states no range", async () => {
    for (const stated of ["1024 65535", "20000 60999", "", "none"]) {
      expect(await freePort(stated), stated).to.be.within(1_024, 65_535);
    }
  });
});
