import { second, type Instant } from "../../../kernel/clock.ts";
import { healths, worst, type Check, type Health } from "./health.ts";

export interface ProviderStatus extends Check {
  readonly network: string;
  readonly provider: string;
}

/** The results of one run of the checks, without the backlogs, which any process can count in the store. */
export interface Report {
  readonly checks: Readonly<Record<string, Check>>;
  readonly providers: readonly ProviderStatus[];
}

/** The settings of a server that commands and other servers on the same store compare with their own. */
export interface ServerSettings {
  readonly startedAt: Instant;
  readonly version: string;
  /** The URL with which its links begin, without a trailing slash. */
  readonly baseUrl: string;
  /** False if it is only the address on which the server listens. */
  readonly isBaseUrlSet: boolean;
  /** The ids of its enabled networks. */
  readonly networks: readonly string[];
}

/** A stored report of one server. */
export interface Probe {
  readonly checkedAt: Instant;
  readonly report: Report;
}

/** How often a server runs the checks. */
export const probeEveryMs = 10 * second;
/** Older results say nothing about the present. */
export const freshFor = 6 * probeEveryMs;

/**
 * Merges the servers' reports: the worst status of each check, with its age. If all are stale, checks are `unknown`.
 */
export function lastReport(probes: readonly Probe[], now: Instant): Report {
  const fresh = probes.filter(({ checkedAt }) => now - checkedAt <= freshFor);
  if (fresh.length > 0) return mergeReports(fresh, now);
  const [last] = probes.toSorted((one, other) => other.checkedAt - one.checkedAt);
  const scheduler: Check = {
    status: "unknown",
    message:
      last === undefined
        ? "No server has run on this store yet."
        : `No server is running on this store; the last one ran its checks ${ago(last, now)}.`,
  };
  if (last === undefined) return { checks: { scheduler }, providers: [] };
  const faded = <C extends Check>(check: C): C => ({
    ...check,
    status: "unknown",
    message: `${check.message} (as of ${ago(last, now)})`,
  });
  const { checks, providers } = last.report;
  const others = Object.entries(checks).map(([name, check]) => [name, faded(check)] as const);
  return { checks: { ...Object.fromEntries(others), scheduler }, providers: providers.map(faded) };
}

function mergeReports(probes: readonly Probe[], now: Instant): Report {
  const checks = new Map<string, Check>();
  const providers = new Map<string, ProviderStatus>();
  for (const probe of probes) {
    const dated = <C extends Check>(check: C): C => ({
      ...check,
      message: `${check.message} (${ago(probe, now)})`,
    });
    for (const [name, check] of Object.entries(probe.report.checks)) {
      const known = checks.get(name);
      if (known === undefined || isWorse(check, known)) checks.set(name, dated(check));
    }
    for (const provider of probe.report.providers) {
      // Only the server that reads a network knows its status; the others see only that it is being read.
      const key = `${provider.network} ${provider.provider}`;
      const known = providers.get(key);
      if (known === undefined || isWorse(provider, known)) providers.set(key, dated(provider));
    }
  }
  return { checks: Object.fromEntries(checks), providers: [...providers.values()] };
}

/** Returns the overall status. A failing provider or network degrades the installation but does not take it down. */
export function overall({ checks, providers }: Report): Health {
  const found = worst(Object.values(checks));
  const isAnyBad = providers.some(({ status }) => status === "down" || status === "degraded");
  return isAnyBad && found !== "down" ? "degraded" : found;
}

function isWorse(one: Check, other: Check): boolean {
  return healths.indexOf(one.status) > healths.indexOf(other.status);
}

function ago({ checkedAt }: Probe, now: Instant): string {
  return `${String(Math.round(Math.max(0, now - checkedAt) / second))} s ago`;
}
