import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";

/** All ports that `fetch` and browsers refuse are below. */
const lowest = 20_000;
const triesMax = 100;
const rangeFile = "/proc/sys/net/ipv4/ip_local_port_range";
/** Counts up, so that a process gets each port once, although it is used only later. */
let place = randomInt(1_000_000);

/**
 * Returns a free port below those that the kernel gives to connections and to servers on port 0, any of which could
 * take it before the caller does. Returns one of the kernel's if there is no other. Another process could take it still.
 * `localPorts` is the kernel's range as it states it.
 */
export async function freePort(localPorts = kernelsRange()): Promise<number> {
  const end = Number.parseInt(localPorts, 10);
  for (let tries = 1; ; tries += 1) {
    const isBelow = end > lowest && tries <= triesMax;
    place += 1;
    try {
      return await opened(isBelow ? lowest + (place % (end - lowest)) : 0);
    } catch (error) {
      if (!isBelow || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}

/** Returns the range of this machine; empty on one that states none. */
function kernelsRange(): string {
  return existsSync(rangeFile) ? readFileSync(rangeFile, "utf8") : "";
}

/** Listens on a port for a moment, and returns it. */
async function opened(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
