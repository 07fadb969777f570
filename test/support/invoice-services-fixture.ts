import { hooks } from "../../src/hooks.ts";
import {
  lockTerms,
  settleInvoices,
  sweepDeadlines,
} from "../../src/features/invoices/settlement/settlement.ts";
import { createCustomer } from "../../src/features/customers/customers.ts";
import { stateTable, type NetworkState } from "../../src/platform/chain/state/network-state.ts";
import { chooseOption } from "../../src/features/invoices/options/choose.ts";
import { unlimited } from "../../src/features/invoices/hooks.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import type { InvoiceRow } from "../../src/features/invoices/store.ts";
import type { PaymentTotals } from "../../src/features/invoices/rules.ts";
import { setDefaultWallet } from "../../src/features/wallets/defaults.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import type { App } from "../../src/app.ts";
import type { Instant } from "../../src/kernel/clock.ts";
import { Problem } from "../../src/kernel/errors.ts";
import { createIds, type Id } from "../../src/kernel/id.ts";
import { createJournal } from "../../src/platform/journal.ts";
import type { Network } from "../../src/platform/chain/networks.ts";
import type { Config, ConfiguredNetwork } from "../../src/platform/config/config.ts";
import type { Database, Reader } from "../../src/platform/database/database.ts";
import { noRates } from "../../src/platform/rates/plan.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { appOf } from "./context.ts";
import { addOrganization, testNetworks } from "./merchants.ts";
import { testContext } from "./store/stores.ts";

/**
 * Opens a merchant with wallets and invoices on a store, and a clock that the test moves. No part of the product is
 * faked.
 */
export async function openShop(db: Database, ...enabled: readonly string[]) {
  let now = 1_800_000_000_000;
  const clock = { now: () => now };
  const ids = createIds(systemRandom);
  const journal = createJournal({ ids, wake: () => undefined });
  const networks: Map<string, Network> = testNetworks(...enabled);
  const baseUrl = () => "https://pay.example";
  let gate: (reader: Reader, organizationId: Id<"organization">) => Promise<void> = () =>
    Promise.resolve();

  /** Runs once, before the transaction of the next invoice. */
  let beforeIssue: (() => Promise<unknown>) | null = null;
  const settledManaged: (readonly InvoiceRow[])[] = [];
  const wokenWorkers: string[] = [];
  const wake = (worker: string) => void wokenWorkers.push(worker);
  const parts: Partial<App> & { readonly db: Database } = {
    clock,
    ids,
    journal,
    baseUrl,
    running: { wake, nudge: wake, lastTickAt: () => null },
    providersOf: () => [],
    config: { rates: noRates, walletsPerOrganization: 1_000, verification: "off" } as Config,
    networks: {
      enabled: networks as Map<string, ConfiguredNetwork>,
      known: networks,
      enabledIds: enabled,
    },
    db: {
      ...db,
      async write(...args) {
        const change = beforeIssue;
        beforeIssue = null;
        await change?.();
        return db.write(...args);
      },
    },
    hooks: {
      ...hooks,
      async mayIssue(reader, _app, owner) {
        await gate(reader, owner);
        return unlimited;
      },
      managedChanged(_tx, _app, _at, changed) {
        settledManaged.push(changed);
        return Promise.resolve();
      },
      countStarted: (_tx, at, started) =>
        Promise.resolve(started.map(({ countedAt }) => (countedAt === null ? at : null))),
    },
  };
  /** Returns the app as it is after a while: its caches are empty, although the clock stands still. */
  const appNow = () => appOf(parts);
  const organizationId = await addOrganization(db, ids, now);

  /** Records a scan of a network with the tip's height, by default at the current time. */
  async function scan(network: string, tipHeight = 1_000, tipTime = now): Promise<NetworkState> {
    const state = {
      network,
      chainId: networks.get(network)?.chainId ?? 1,
      cursorHeight: tipHeight,
      cursorHash: "00".repeat(32),
      cursorTime: tipTime,
      tipHeight,
      tipHash: "00".repeat(32),
      tipTime,
      tipSeenAt: now,
      headHeight: tipHeight,
      scannedAt: now,
      usualLagMs: 0,
      disabledTokens: [],
      version: 1,
    };
    await db.write(testContext, async (tx) => {
      const { network: _, ...set } = state;
      const changed = await tx.update(stateTable, set, "WHERE network = $1", [network]);
      if (changed === 0) await tx.insert(stateTable, state);
    });
    return state;
  }

  /**
   * Applies deadlines as of a network state. The providers agree on the time of its final block unless stated
   * otherwise.
   */
  function sweep(
    state: NetworkState,
    finalTime: Instant | null = state.cursorTime,
  ): Promise<number> {
    const agreed = () => Promise.resolve(finalTime);
    return sweepDeadlines(appNow(), now, state.network, state, agreed);
  }

  /** Stores the totals of invoices, in a transaction of its own. */
  function settle(
    network: string,
    totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
    state: NetworkState,
  ): Promise<void> {
    return db.write(testContext, async (tx) => {
      const locked = await lockTerms(tx, [...totals.keys()].sort());
      await settleInvoices(tx, appNow(), now, network, locked, totals, state);
    });
  }

  return {
    db,
    ids,
    networks,
    get app() {
      return appNow();
    },
    /** The names of the workers that were woken. */
    wokenWorkers,
    organizationId,
    scan,
    sweep,
    settle,
    /** Chooses a payment option as the payer does. */
    choose: (checkoutId: string | null, network: string, tokenSymbol: string) =>
      db.write(testContext, (tx) =>
        chooseOption(tx, appNow(), now, checkoutId ?? "", { network, tokenSymbol }),
      ),
    /** The managed invoices that settlement reported, call by call. */
    settledManaged,
    now: () => now,
    advance: (milliseconds: number) => (now += milliseconds),
    beforeIssue: (change: () => Promise<unknown>) => (beforeIssue = change),
    setGate: (changed: typeof gate) => (gate = changed),
    /** Adds another organization to the store. */
    addOrganization: () => addOrganization(db, ids, now),
    addWallet: (
      network: string,
      receiver: { address: string } | { xpub: string },
      owner = organizationId,
    ) => createWallet(appNow(), testContext, owner, { label: "Till", network, ...receiver }),
    /** Makes a wallet the default of its network, with reserves, as an owner does. */
    setDefault: (network: string, ...[walletId, ...reserveWalletIds]: readonly Id<"wallet">[]) =>
      setDefaultWallet(appNow(), testContext, organizationId, network, {
        walletId: walletId ?? "wal_",
        reserveWalletIds,
      }),
    addCustomer: () => createCustomer(appNow(), testContext, organizationId, { name: "Bo" }),
    create: async (input: Partial<Parameters<typeof createInvoice>[3]> = {}) => {
      const made = await createInvoice(appNow(), testContext, organizationId, {
        amount: "25.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
        ...input,
      });
      return made.invoice;
    },
  };
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Returns the problem with which work was refused. */
export async function refusal(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Returns an enabled network of a shop. */
export function networkOf({ networks }: Pick<Shop, "networks">, id: string): Network {
  const network = networks.get(id);
  if (network === undefined) throw new Error(`${id} is not enabled`);
  return network;
}
