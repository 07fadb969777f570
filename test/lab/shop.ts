// A shop on the sandbox behind `till serve`, for proofs that measure the real process.
import { readFile } from "node:fs/promises";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import { xpubs } from "../support/merchants.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { initWords, password } from "../support/programs/till.ts";
import { until } from "../support/until.ts";

const batchMax = 100;

export interface Shop {
  readonly installation: Installation;
  readonly server: RunningServer;
  /** `/v1/organizations/{organizationId}` */
  readonly path: string;
  readonly key: string;
  /** A command of `till`; returns what it prints as JSON. */
  run(words: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  /** Issues invoices, and returns the ids of their checkouts. */
  issue(count: number): Promise<readonly string[]>;
  end(): Promise<void>;
}

/** The settings of an installation of a shop. Payers have the limits of an installation. */
export const shopSettings = {
  TILL_NETWORKS: "sandbox",
  TILL_VERIFICATION: "off",
  TILL_BILLING: "off",
  TILL_TRUST_PROXY: "127.0.0.1",
  // For the invoices of all pages at once.
  TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "100000",
};

/** Starts a server with a shop on the sandbox. */
export async function openShop(
  settings: Readonly<Record<string, string>> = {},
  place?: StoreOptions,
): Promise<Shop> {
  return openShopIn(await makeInstallation({ ...shopSettings, ...settings }, place));
}

/** Creates the store of an installation with `shopSettings`, and starts a server with a shop on the sandbox. */
export async function openShopIn(installation: Installation): Promise<Shop> {
  const made = await installation.run(initWords, `${password}\n`);
  if (made.status !== 0) throw new Error(`till init: ${made.stderr}`);
  const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
  const run = async (words: readonly string[]) => {
    const { status, stdout, stderr } = await installation.run([...words, "--yes", "--json"]);
    if (status !== 0) throw new Error(`till ${words.join(" ")}: ${stderr}`);
    return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  };
  await run(["wallet", "add", "--network", "sandbox", "--label", "Till", "--xpub", xpubs.first]);
  const createdKey = await run(["key", "create", "--name", "shop", "--scopes", "read,write"]);
  const key = String(createdKey["secret"]);
  const path = `/v1/organizations/${organization.id}`;
  const server = await installation.serve();
  const post = async (invoices: readonly unknown[]) => {
    const answer = await fetch(`${server.url}${path}/invoices/batch`, {
      method: "POST",
      headers: {
        "X-Service-Key": key,
        "Content-Type": "application/json",
        "Idempotency-Key": String(Math.random()),
      },
      body: JSON.stringify({ invoices }),
    });
    return (await answer.json()) as { results?: { invoice?: { checkoutId: string } }[] };
  };
  let issued = 0;
  return {
    installation,
    server,
    path,
    key,
    run,
    async issue(count) {
      const ids: string[] = [];
      while (ids.length < count) {
        const body = Array.from({ length: Math.min(batchMax, count - ids.length) }, () => ({
          externalId: String((issued += 1)),
          amount: `${String(10 + issued)}.00`,
          settlementCurrency: "USD",
          tokenSymbol: "USDT",
          network: "sandbox",
        }));
        // The sandbox has to be read once before the first invoice can be issued.
        const { results = [] } = await until(
          "invoices",
          () => post(body),
          (answer) => answer.results?.every(({ invoice }) => invoice !== undefined) === true,
        );
        ids.push(...results.flatMap(({ invoice }) => invoice?.checkoutId ?? []));
      }
      return ids;
    },
    async end() {
      await server.stop();
      await installation.remove();
    },
  };
}

/** Pays a checkout on the sandbox, with the button of its page. */
export async function pay(server: RunningServer, checkoutId: string): Promise<void> {
  const answer = await fetch(`${server.url}/pay/${checkoutId}/sandbox`, {
    method: "POST",
    body: new URLSearchParams({ action: "pay" }),
    redirect: "manual",
  });
  if (answer.status !== 303) throw new Error(`the sandbox answered ${String(answer.status)}`);
}

/** Returns the value below which a share of sorted numbers lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? NaN;
}

/** Returns the resident memory of a process, in MiB. */
export async function residentMib({ child }: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${String(child.pid)}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
}

/** Returns the processor time that a process has used, in seconds. */
export async function cpuSeconds({ child }: RunningServer): Promise<number> {
  const stat = await readFile(`/proc/${String(child.pid)}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
