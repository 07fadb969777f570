import { networkInterfaces } from "node:os";
import { judgeAddress, parseRange, sameAddress } from "./address.ts";
import type { Resolve } from "./resolve.ts";
import { parseUrl } from "../../kernel/url.ts";

export interface OwnServices {
  /** True if one of the services listens on this address and port. */
  include(address: string, port: number): Promise<boolean>;
}

const loopback = ["127.0.0.0/8", "::1/128"].map(parseRange);
const everyInterface = ["0.0.0.0", "::"];

/**
 * Recognizes the operator's own services by their URLs. Only addresses in allowed private ranges are checked, where
 * such services may be next to a merchant's receivers.
 */
export function createOwnServices(urls: () => readonly string[], resolve: Resolve): OwnServices {
  async function isService(service: URL, address: string): Promise<boolean> {
    const host = service.hostname.replace(/^\[(.*)\]$/, "$1");
    if (everyInterface.includes(host)) return isThisMachine(address);
    if (sameAddress(host, address)) return true;
    const isLocal = host === "localhost" || isLoopback(host);
    if (isLocal) return isLoopback(address);
    // If the name of a service does not resolve, the service cannot be reached either.
    const resolved = await resolve(host).catch(() => []);
    return resolved.some((candidate) => sameAddress(candidate, address));
  }

  return {
    async include(address, port) {
      for (const service of urls()
        .map((text) => parseUrl(text))
        .filter((url) => url !== null)) {
        if (portOf(service) === port && (await isService(service, address))) return true;
      }
      return false;
    },
  };
}

const defaultPorts: Readonly<Record<string, number>> = { "https:": 443, "postgres:": 5_432 };

function portOf({ port, protocol }: URL): number {
  return port === "" ? (defaultPorts[protocol] ?? 80) : Number(port);
}

function isLoopback(address: string): boolean {
  return judgeAddress(address, loopback).verdict === "listed";
}

function isThisMachine(address: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return (
    isLoopback(address) || interfaces.some((candidate) => sameAddress(candidate.address, address))
  );
}
