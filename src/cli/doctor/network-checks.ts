import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { day, second, systemClock, type Instant } from "../../kernel/clock.ts";
import type { FetchInit } from "../../platform/chain/evm/transport.ts";
import type { Config, ConfiguredNetwork } from "../../platform/config/config.ts";
import { makeReader } from "../../platform/database/query/statement.ts";
import {
  describeWayOut,
  makeOutwardFetch,
  type ProxySettings,
} from "../../platform/outbound/proxy.ts";
import { ok, problem, reasonOf, skipped, warning, type Finding } from "./finding.ts";

/** How long to wait for the server's answer, in milliseconds. */
const responseMs = 5 * second;
/** The maximum length of an answer, in characters. */
const responseMax = 1_000_000;
/** Days before the end of the certificate from which on it is a warning. */
const certificateDays = 14;
/** Difference of clocks, in milliseconds, from which on it is a warning or a problem. A Date header has whole seconds. */
const clockOff = { warning: 5 * second, problem: 60 * second };

interface FoundResponse {
  readonly status: number;
  readonly type: unknown;
  /** The server's time, and the time in the middle of the request. */
  readonly clock: { readonly server: Instant; readonly own: Instant } | null;
  readonly certificateEnd: Instant | null;
}

/** Checks of the server through its base URL. */
export interface ServerChecks {
  readonly findings: readonly Finding[];
  /** Whether the clock could be compared. */
  readonly isClockChecked: boolean;
}

/**
 * Requests a page that does not exist through the base URL. The problem in the answer shows that Till answers, and with
 * which path its links begin.
 */
export async function checkServer(baseUrl: string, now: Instant): Promise<ServerChecks> {
  let response: FoundResponse;
  try {
    response = await askServer(`${baseUrl}/v1/doctor`);
  } catch (error) {
    const message = `${baseUrl} does not answer: ${reasonOf(error)}.`;
    const remedy =
      "Start the server, or check the name, the proxy and its certificate; payers use this address";
    return { findings: [problem("base URL", message, remedy)], isClockChecked: false };
  }
  const findings = [comparePrefix(baseUrl, response)];
  if (response.certificateEnd !== null)
    findings.push(judgeCertificate(response.certificateEnd, now));
  if (response.clock !== null) {
    const off = Math.abs(response.clock.server - response.clock.own);
    findings.push(judgeClock(off, `${String(Math.round(off / second))} s from that of ${baseUrl}`));
  }
  return { findings, isClockChecked: response.clock !== null };
}

/** Judges the difference of this machine's clock to another one, in milliseconds. */
export function judgeClock(off: number, words: string): Finding {
  const message = `The clock of this machine is ${words}.`;
  const remedy = "Set the clock by NTP: rates, deadlines and signatures depend on it";
  if (off > clockOff.problem) return problem("clock", message, remedy);
  return off > clockOff.warning ? warning("clock", message, remedy) : ok("clock", message);
}

function comparePrefix(baseUrl: string, { status, type }: FoundResponse): Finding {
  const check = "base URL";
  const found = /^(\/\S*)?\/docs\/problems#/.exec(typeof type === "string" ? type : "");
  if (found === null) {
    return problem(
      check,
      `${baseUrl} answers with status ${String(status)}, but not as Till does.`,
      "Check that the proxy passes every path on to the server, without changing it",
    );
  }
  const [, prefix = ""] = found;
  const expected = new URL(baseUrl).pathname.replace(/\/+$/, "");
  if (prefix === expected) return ok(check, `The server answers at ${baseUrl}.`);
  return problem(
    check,
    `The server at ${baseUrl} begins its paths with "${prefix}" instead of "${expected}".`,
    "Another server answers there: check to which one the proxy passes requests",
  );
}

function judgeCertificate(end: Instant, now: Instant): Finding {
  const days = Math.floor((end - now) / day);
  const message = `The TLS certificate ends in ${String(days)} days.`;
  return days < certificateDays
    ? warning("certificate", message, "Renew it: payers' browsers refuse one that has ended")
    : ok("certificate", message);
}

function askServer(url: string): Promise<FoundResponse> {
  const began = systemClock.now();
  const isSecure = url.startsWith("https:");
  const options = {
    headers: { Accept: "application/json" },
    agent: false,
    signal: AbortSignal.timeout(responseMs),
  } as const;
  return new Promise((resolve, reject) => {
    const asked = (isSecure ? requestHttps : requestHttp)(url, options, (response) => {
      const own = (began + systemClock.now()) / 2;
      const { socket } = response;
      const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : "";
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        // A foreign page may be large.
        if (text.length > responseMax) response.destroy(new Error("the answer is too long"));
      });
      response.once("error", reject).once("end", () => {
        const date = Date.parse(response.headers.date ?? "");
        resolve({
          status: response.statusCode ?? 0,
          type: typeOf(text),
          // The header names the second that has begun.
          clock: Number.isNaN(date) ? null : { server: date + second / 2, own },
          certificateEnd: end === "" ? null : Date.parse(end),
        });
      });
    });
    asked.once("error", reject).end();
  });
}

function typeOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly type?: unknown } | null)?.type;
  } catch {
    return undefined;
  }
}

/** The finding while no server runs. */
export function noServer(): Finding {
  return skipped("base URL", "No server is running on this store.", "Start it: till serve");
}

/** How long to wait for all answers of a provider, in milliseconds. */
const replyMs = 8 * second;
/** Age of the newest block, in block times, from which on a provider counts as behind; at least `behindMs`. */
const behindBlocks = 20;
const behindMs = 60 * second;

export interface ProviderChecks {
  readonly findings: readonly Finding[];
  /** The latest time of a block that any provider knows, and when it was asked; null if none answered. */
  readonly newest: { readonly block: Instant; readonly asked: Instant } | null;
}

/** Asks every provider of the enabled networks for its chain's id and its newest block. */
export async function checkProviders({
  networks,
  proxy,
}: Pick<Config, "networks" | "proxy">): Promise<ProviderChecks> {
  const real = networks.filter(({ kind }) => !kind.isSimulated);
  const asked = await Promise.all(real.map((network) => checkNetwork(network, proxy)));
  const times = asked.flatMap(({ blocks }) => blocks).sort((one, other) => other - one);
  const [block] = times;
  return {
    findings: [
      ...(real.length === 0 ? [noProviders()] : asked.flatMap(({ findings }) => findings)),
      ok("way out", describeWayOut(proxy)),
    ],
    newest: block === undefined ? null : { block, asked: systemClock.now() },
  };
}

async function checkNetwork(
  network: ConfiguredNetwork,
  proxy: ProxySettings,
): Promise<{ readonly findings: readonly Finding[]; readonly blocks: readonly Instant[] }> {
  const blocks: Instant[] = [];
  const providers = network.kind.connect(network, {
    endpoints: network.endpoints,
    // Only a simulated chain reads the store.
    reader: makeReader("sqlite", () => Promise.reject(new Error("no store"))),
    clock: systemClock,
    fetch: makeOutwardFetch<FetchInit>(proxy),
    stopping: AbortSignal.timeout(replyMs),
  });
  if (providers.length === 0) {
    const name = `providers of ${network.id}`;
    return { findings: [problem(name, "None is configured.", "Add one to the settings")], blocks };
  }
  const findings = await Promise.all(
    providers.map(async ({ client }): Promise<Finding> => {
      const check = `provider ${network.id} ${client.provider}`;
      try {
        const [chainId, { latest }] = await Promise.all([client.chainId(), client.heads()]);
        if (chainId !== network.chainId) {
          const found = `It serves chain ${String(chainId)} instead of ${String(network.chainId)}.`;
          return problem(
            check,
            found,
            `Correct the provider's URL in the settings of ${network.id}`,
          );
        }
        blocks.push(latest.time);
        const age = systemClock.now() - latest.time;
        const message = `Its newest block, ${String(latest.height)}, is ${String(Math.max(0, Math.round(age / second)))} s old.`;
        return age > Math.max(behindMs, behindBlocks * network.blockTimeMs)
          ? warning(check, message, "If its other provider is ahead, replace this one")
          : ok(check, message);
      } catch (error) {
        const message = `It does not answer: ${reasonOf(error)}.`;
        return problem(
          check,
          message,
          "Check this machine's network, the provider's URL and its key",
        );
      }
    }),
  );
  return { findings, blocks };
}

/** The finding if no network has providers to ask. */
function noProviders(): Finding {
  return skipped("providers", "Only the sandbox is enabled, which needs none.");
}
