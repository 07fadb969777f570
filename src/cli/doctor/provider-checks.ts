import { second, systemClock, type Instant } from "../../kernel/clock.ts";
import type { FetchInit } from "../../platform/chain/evm/transport.ts";
import type { Config, ConfiguredNetwork } from "../../platform/config/config.ts";
import {
  describeWayOut,
  makeOutwardFetch,
  type ProxySettings,
} from "../../platform/outbound/proxy.ts";
import { makeReader } from "../../platform/database/query/statement.ts";
import { ok, problem, reasonOf, skipped, warning, type Finding } from "./finding.ts";

/** How long to wait for all answers of a provider, in milliseconds. */
const answerMs = 8 * second;
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
    stopping: AbortSignal.timeout(answerMs),
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
