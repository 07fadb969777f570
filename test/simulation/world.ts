import { invoices } from "../../src/features/invoices/table.ts";
import { payments, transfers } from "../../src/features/payments/table.ts";
import { platformInvoices, billingState } from "../../src/features/billing/table.ts";
import { day, hour, minute, second, type Instant } from "../../src/kernel/clock.ts";
import { Problem } from "../../src/kernel/errors.ts";
import type { Id } from "../../src/kernel/id.ts";
import { parseAddress } from "../../src/platform/chain/address.ts";
import { networkState } from "../../src/platform/chain/state.ts";
import type { Database, RowOf } from "../../src/platform/database/index.ts";
import { testContext } from "../support/stores.ts";
import type { Sending, SimulatedChain } from "./chain.ts";
import { crashable, Killed } from "./crashes.ts";
import {
  blockMs,
  finalityLag,
  networkId,
  paidPlans,
  startAt,
  type Process,
  type Stage,
} from "./stage.ts";
import { chanceOf, type Lie, type Step } from "./steps.ts";

export type Invoice = RowOf<typeof invoices>;

/** A transfer that somebody made, and what for. */
export interface Payment {
  readonly transactionHash: string;
  /** The invoice that its payer meant to pay; null: none. */
  readonly meant: Id<"invoice"> | null;
  /** It is the amount that the payer's page showed, of an invoice that was not paid yet. */
  readonly isAsTold: boolean;
}

/** What people did, for the model to hold the product against. */
export interface Deeds {
  readonly payments: ReadonlyMap<string, Payment>;
  /** The invoices that operators gave a transaction's money to, beside the one that it was meant for. */
  readonly given: ReadonlyMap<string, ReadonlySet<string>>;
  /** Invoices about whose payments somebody decided. */
  readonly decided: ReadonlySet<string>;
  /** Transactions whose payers gave their hashes. */
  readonly submitted: ReadonlySet<string>;
  /** Transactions that the only provider may have given a wrong time, which nothing contradicted. */
  readonly mistimed: ReadonlySet<string>;
}

export interface World {
  readonly db: Database;
  readonly chain: SimulatedChain;
  readonly deeds: Deeds;
  now(): Instant;
  do(step: Step): Promise<void>;
  /** Everybody tells the truth again, and time passes. */
  settle(): Promise<void>;
}

const looksMax = 60;
/** How far a provider shifts the times of blocks, by the amount of its lie. Only the smallest can be believed. */
const shifts: Readonly<Record<number, { readonly future: number; readonly past: number }>> = {
  1: { future: 5 * minute, past: -2 * minute },
  2: { future: 20 * minute, past: -hour },
  3: { future: day, past: -3 * day },
  9: { future: 10 * day, past: -9 * day },
};

/** Those of a seed, at the beginning of its history. */
export async function openWorld(stage: Stage, store: Database, seed: number): Promise<World> {
  const chance = chanceOf(seed ^ 0x5f3759df);
  const chain = stage.newChain(chance);
  const crashing = crashable(store);
  const { db } = crashing;
  const { cast, network } = stage;
  let now: Instant = startAt + 2 * minute;
  const composed = (): Promise<Process> => stage.compose({ db, now: () => now, chance, chain });
  let process = await composed();
  let transactions = 0;
  let billedAt: Instant = now;

  const paid = new Map<string, Payment>();
  const given = new Map<string, Set<string>>();
  const decided = new Set<string>();
  const submitted = new Set<string>();
  const mistimed = new Set<string>();
  /** In the order in which they were issued. */
  const asked: Id<"invoice">[] = [];
  const onChain = new Map<string, bigint>();

  /** What a process does, which may die of it; then another begins. Gives null where it died, or refused. */
  async function attempt<T>(work: (live: Process) => Promise<T>): Promise<T | null> {
    try {
      return await work(process);
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return null;
      if (!isKilled(error)) throw error;
      crashing.plan(null);
      process = await composed();
      return null;
    }
  }

  /**
   * Notes what the only provider gives a wrong time without contradicting what was scanned: nobody can tell then. Two
   * providers that lie do not give the same time.
   */
  async function noteMistimed(): Promise<void> {
    const [only, ...others] = chain.providers;
    const state = await networkState(db, networkId);
    if (only === undefined || others.length > 0 || state === null) return;
    const { shiftMs, timesFrom } = only.lies;
    if (shiftMs === 0) return;
    const told = chain.tip().time + shiftMs;
    const isSameChain = chain.blocks[state.tipHeight]?.hash === state.tipHash;
    const scanned = Math.min(state.tipTime, state.scannedAt - minute);
    if (told > now + 10 * minute || (isSameChain && told < scanned)) return;
    for (const { logs } of chain.blocks.slice(timesFrom)) {
      for (const { transactionHash } of logs) mistimed.add(transactionHash);
    }
  }

  async function look(): Promise<void> {
    await noteMistimed();
    const signal = new AbortController().signal;
    for (let looks = 0; looks < looksMax; looks += 1) {
      const isMore = await attempt(async ({ workers }) =>
        workers.get(`watch ${networkId}`)?.run(signal),
      );
      now += second;
      if (isMore !== true && isMore !== null) return;
    }
    throw new Error("the watcher never comes to an end");
  }

  /** Billing was at work until now. */
  async function bill(): Promise<void> {
    await store.write(testContext, (tx) =>
      tx.update(billingState, { heartbeatAt: now }, "WHERE id = 'billing'"),
    );
    billedAt = now;
    const done = await attempt(({ services }) => services.billingRun.runAll());
    if (done !== null && done.parked > 0) throw new Error("billing failed, and was parked");
  }

  function mine(blocks = 1, sent: readonly Sending[] = []): void {
    for (let block = 0; block < blocks; block += 1) {
      if (block > 0) now += blockMs;
      chain.mine(now, block === 0 ? sent : []);
    }
  }

  /** Time passes with a chain that goes on: a few blocks now and then, and looks at them. */
  async function wait(ms: number): Promise<void> {
    const parts = ms <= 5 * minute ? 1 : ms <= 2 * hour ? 2 : 4;
    for (let part = 0; part < parts; part += 1) {
      now += ms / parts;
      mine(2);
      await look();
      if (now - billedAt > hour) await bill();
    }
  }

  const invoiceAt = async (place: number): Promise<Invoice | null> => {
    const id = asked[asked.length === 0 ? 0 : asked.length - 1 - (place % asked.length)];
    return id === undefined ? null : db.findOne(invoices, "WHERE id = $1", [id]);
  };

  async function create(step: Extract<Step, { kind: "create" }>, externalId: string) {
    const owner = cast.organizations[step.organization];
    const wallets = cast.wallets[step.organization];
    if (owner === undefined || wallets === undefined) return null;
    const input = {
      amount: step.price,
      settlementCurrency: step.currency,
      tokenSymbol: step.token,
      network: networkId,
      walletId: step.wallet === "any" ? undefined : wallets[step.wallet],
      underpaymentTolerance: step.tolerance,
      expiresInSeconds: step.lifeMs / second,
      externalId,
      draft: step.draft,
    };
    const ask = () =>
      attempt(({ services }) => services.invoices.create(testContext, owner, input));
    // Whoever was not answered asks again.
    const made = (await ask()) ?? (await ask());
    if (made === null) return null;
    const { id } = made.invoice;
    if (step.draft) {
      const changes = { amount: "4.20", status: "open" } as const;
      const issued = await attempt(({ services }) =>
        services.invoices.update(testContext, owner, id, changes, () => undefined),
      );
      if (issued === null) return null;
    }
    if (!asked.includes(id)) asked.push(id);
    return made.invoice;
  }

  const plain: Omit<Extract<Step, { kind: "create" }>, "organization"> = {
    ...({ kind: "create", wallet: "shared", token: "CENT", currency: "USD" } as const),
    ...{ price: "10.00", tolerance: "0", lifeMs: 5 * minute, draft: false },
  };

  async function burst({ organization, count }: Extract<Step, { kind: "burst" }>, name: string) {
    const owner = cast.organizations[organization];
    if (owner === undefined) return;
    const made = await attempt(({ services }) =>
      Promise.all(
        Array.from({ length: count }, (_, place) =>
          services.invoices
            .create(testContext, owner, {
              ...{ amount: "7.00", settlementCurrency: "USD", tokenSymbol: "USDT" },
              ...{ network: networkId, externalId: `${name}-${String(place)}` },
            })
            .catch((error: unknown) => {
              if (error instanceof Problem && error.status < 500) return null;
              throw error;
            }),
        ),
      ),
    );
    for (const one of made ?? []) if (one !== null) asked.push(one.invoice.id);
  }

  async function flood({ cancels }: Extract<Step, { kind: "flood" }>, name: string) {
    for (let count = 0; count < 14; count += 1) {
      const made = await create({ ...plain, organization: 0 }, `${name}-${String(count)}`);
      if (made === null) return;
      if (cancels) await cancel(made.id, made.organizationId);
    }
  }

  const cancel = (id: Id<"invoice">, owner: Id<"organization">) =>
    attempt(({ services }) => services.invoices.cancel(testContext, owner, id));

  async function pay(invoice: Invoice, how: Extract<Step, { kind: "pay" }>["how"]): Promise<void> {
    const token = network.tokens.find(({ symbol }) => symbol === invoice.tokenSymbol);
    const parsed = parseAddress("evm", invoice.walletAddress ?? "");
    const { payableAmount: payable, remainingAmount } = invoice;
    if (token === undefined || !parsed.ok || payable === null) return;
    const to = parsed.address;
    const told = remainingAmount === null || remainingAmount === 0n ? payable : remainingAmount;
    const isUnpaid = (onChain.get(invoice.id) ?? 0n) < payable;
    const send = (amount: bigint, more: Partial<Sending> = {}, isAsTold = false): Sending => {
      transactions += 1;
      const transactionHash = `7${transactions.toString(16).padStart(63, "0")}`;
      const isPayment = more.contract === undefined && more.from === undefined;
      const meant = isPayment ? invoice.id : null;
      paid.set(transactionHash, { transactionHash, meant, isAsTold: isAsTold && isUnpaid });
      const from = "a".repeat(40);
      return { transactionHash, contract: token.contract, from, to, amount, ...more };
    };
    const price = priceOf(invoice);
    const isOwn = invoice.addressIndex !== null;
    const sent: Sending[] = [];
    switch (how) {
      case "exact":
        sent.push(send(told, {}, true));
        break;
      case "rounded":
        if (price !== null) sent.push(send(price));
        break;
      case "part":
        sent.push(send((told * 37n) / 100n));
        break;
      case "over":
        sent.push(send((told * 137n) / 100n));
        break;
      case "double":
        sent.push(send(told, {}, true), send(told, {}, true));
        break;
      case "split": {
        const first = send((told * 37n) / 100n);
        const { amount, transactionHash } = first;
        sent.push(first, { ...first, transactionHash, amount: told - amount });
        break;
      }
      case "other_token":
        sent.push(send(told, { contract: network.tokens[1]?.contract ?? "" }));
        break;
      case "fake_token":
        sent.push(send(told, { contract: "fa".repeat(20) }));
        break;
      case "dust":
        sent.push(send(1n));
        break;
      case "nothing":
        sent.push(send(0n));
        break;
      case "to_itself":
        sent.push(send(told, { from: to }));
        break;
    }
    // Nobody pays, by chance, an amount that another payer was told, but for those who round.
    const isOdd = how === "part" || how === "over" || how === "split" || how === "dust";
    if (isOdd && !isOwn && (await isTold(invoice, sent))) return;
    mine(1, sent);
    const sum = sent
      .filter(({ transactionHash }) => paid.get(transactionHash)?.meant === invoice.id)
      .reduce((total, { amount }) => total + amount, 0n);
    onChain.set(invoice.id, (onChain.get(invoice.id) ?? 0n) + sum);
  }

  async function isTold(invoice: Invoice, sent: readonly Sending[]): Promise<boolean> {
    const others = await db.find(invoices, "WHERE wallet_address = $1 AND id <> $2", [
      invoice.walletAddress ?? "",
      invoice.id,
    ]);
    return others.some((other) =>
      sent.some(({ amount }) => [other.payableAmount, other.remainingAmount].includes(amount)),
    );
  }

  function reorganise({ depth, returning }: Extract<Step, { kind: "reorganise" }>): void {
    const count = Math.min(depth, chain.blocks.length - 12 - finalityLag);
    if (count <= 0) return;
    const gone = chain.rollback(count);
    const hashes = [...new Set(gone.map(({ transactionHash }) => transactionHash))].reverse();
    mine(1);
    for (const hash of hashes.slice(0, returning)) {
      mine(
        1,
        gone.filter(({ transactionHash }) => transactionHash === hash),
      );
    }
    // The new branch is the longer one, as on a real chain.
    const missing = count - Math.min(returning, hashes.length);
    if (missing > 0) mine(missing);
  }

  function lie({ provider: place, lie: told, amount }: Extract<Step, { kind: "lie" }>): void {
    const provider = chain.providers[place % chain.providers.length];
    if (provider === undefined) return;
    const { lies } = provider;
    const timesFrom = chain.tip().height;
    const shiftBy = (way: "future" | "past") => {
      const shiftMs = (shifts[amount]?.[way] ?? 0) + (place % chain.providers.length) * second;
      Object.assign(lies, { shiftMs, timesFrom });
    };
    const acts: Readonly<Record<Lie, () => void>> = {
      dead: () => (lies.isDead = true),
      future: () => {
        shiftBy("future");
      },
      past: () => {
        shiftBy("past");
      },
      empty: () => (lies.isEmpty = true),
      index_lag: () => (lies.indexLag = amount),
      index_lag_long: () => (lies.indexLag = finalityLag + 4 * amount),
      behind: () => (lies.behind = 2 * amount),
      newest_is_final: () => (lies.callsNewestFinal = true),
      honest: () => {
        provider.beHonest();
      },
    };
    acts[told]();
  }

  async function submit({ what, transfer, ...step }: Extract<Step, { kind: "submit" }>) {
    const invoice = await invoiceAt(step.invoice);
    const checkoutId = invoice?.checkoutId;
    if (invoice === null || checkoutId == null) return;
    const known = [...paid.values()].filter(
      ({ meant }) => what === "another" || meant === invoice.id,
    );
    const junk = Buffer.from(chance.bytes(32)).toString("hex");
    const hash = what === "junk" ? junk : known[transfer % known.length]?.transactionHash;
    if (hash === undefined) return;
    submitted.add(hash);
    await attempt(({ services }) =>
      services.checkout.submitTransaction(testContext, checkoutId, `0x${hash}`),
    );
  }

  function noteGiven(transactionHash: string, invoiceId: string): void {
    const known = given.get(transactionHash) ?? new Set();
    given.set(transactionHash, known.add(invoiceId));
  }

  async function decide({ what, item, ...step }: Extract<Step, { kind: "decide" }>) {
    if (what === "allocate" || what === "ignore") {
      const invoice = await invoiceAt(step.invoice);
      const rows = await db.find(
        transfers,
        "WHERE organization_id IS NOT NULL AND disposition = 'unmatched' AND status = 'seen' ORDER BY id",
      );
      const row = rows[item % rows.length];
      if (row === undefined || row.organizationId === null || invoice === null) return;
      const { id, organizationId, transactionHash, amount, tokenDecimals } = row;
      for (const one of await db.find(payments, "WHERE transfer_id = $1", [id])) {
        decided.add(one.invoiceId);
      }
      decided.add(invoice.id);
      noteGiven(transactionHash, invoice.id);
      const meant = paid.get(transactionHash)?.meant;
      if (meant != null) decided.add(meant);
      const part = { invoiceId: invoice.id, amount: decimal(amount, tokenDecimals) };
      await attempt(({ services }) =>
        what === "ignore"
          ? services.transfers.ignore(testContext, organizationId, id)
          : services.transfers.allocate(testContext, organizationId, id, [part]),
      );
      return;
    }
    const wanted =
      what === "reverse" ? "status IN ('confirming', 'confirmed')" : "status = 'review'";
    const rows = await db.find(payments, `WHERE ${wanted} ORDER BY id`);
    const row = rows[item % rows.length];
    if (row === undefined) return;
    const { id, organizationId, transactionHash, invoiceId, transferId } = row;
    for (const one of await db.find(payments, "WHERE transfer_id = $1", [transferId])) {
      decided.add(one.invoiceId);
    }
    if (what === "accept") noteGiven(transactionHash, invoiceId);
    await attempt(({ services }) => services.decisions[what](testContext, organizationId, id));
  }

  async function billing(step: Extract<Step, { kind: "bill" }>): Promise<void> {
    const owner = cast.organizations[step.organization];
    if (owner === undefined) return;
    switch (step.what) {
      case "select":
        await attempt(({ services }) =>
          services.subscriptions.select(testContext, owner, paidPlans[step.share === 100 ? 0 : 1]),
        );
        return;
      case "cancel":
      case "cancel_later":
        await attempt(({ services }) =>
          services.billingDesk.cancel(testContext, owner, {
            when: step.what === "cancel" ? "now" : "period_end",
            reason: "A test",
          }),
        );
        return;
      case "credit": {
        const amount = `${String(step.share)}.00`;
        const input = { amount, currency: "USD", reason: "Sorry" };
        await attempt(({ services }) =>
          services.ledgerService.grantCredit(testContext, owner, input),
        );
        return;
      }
      case "month":
        await wait(31 * day);
        return;
      case "pay":
        return payBill(owner, step.share);
    }
  }

  async function payBill(owner: Id<"organization">, share: number): Promise<void> {
    const rows = await db.find(
      platformInvoices,
      "WHERE organization_id = $1 AND twin_id IS NOT NULL ORDER BY id DESC",
      [owner],
    );
    const twinId = rows[0]?.twinId ?? null;
    const twin = twinId === null ? null : await db.findOne(invoices, "WHERE id = $1", [twinId]);
    if (twin !== null) await pay(twin, share === 100 ? "exact" : share > 100 ? "over" : "part");
  }

  let steps = 0;
  async function act(step: Step): Promise<void> {
    steps += 1;
    const name = `step-${String(steps)}`;
    switch (step.kind) {
      case "create":
        await create(step, name);
        return;
      case "burst":
        return burst(step, name);
      case "flood":
        return flood(step, name);
      case "cancel": {
        const invoice = await invoiceAt(step.invoice);
        if (invoice !== null) await cancel(invoice.id, invoice.organizationId);
        return;
      }
      case "pay": {
        const invoice = await invoiceAt(step.invoice);
        if (invoice !== null) await pay(invoice, step.how);
        return;
      }
      case "mine":
        mine(step.blocks);
        return;
      case "wait":
        return wait(step.ms);
      case "look":
        return look();
      case "lie":
        lie(step);
        return;
      case "reorganise":
        reorganise(step);
        return;
      case "crash":
        crashing.plan(step);
        return;
      case "submit":
        return submit(step);
      case "decide":
        return decide(step);
      case "bill":
        return billing(step);
    }
  }

  return {
    ...{ db, chain },
    deeds: { payments: paid, given, decided, submitted, mistimed },
    now: () => now,
    async do(step) {
      now += second;
      await act(step);
    },
    async settle() {
      crashing.plan(null);
      for (const provider of chain.providers) provider.beHonest();
      mine(finalityLag);
      await look();
      for (const ms of settlingMs) {
        now += ms;
        mine(3);
        await look();
      }
      await bill();
      mine(finalityLag + 1);
      await look();
    },
  };
}

/** Longer than any patience of the watcher: providers that were left out are asked again, ranges are read again. */
const settlingMs = [2, 4, 6, 12, 65, 65].map((count) => count * minute);

/** What an invoice asks for before something tells it from others; null where a rate decides. */
function priceOf(invoice: Invoice): bigint | null {
  if (invoice.settlementCurrency !== "USD") return null;
  return invoice.amount * 10n ** BigInt(invoice.tokenDecimals - invoice.settlementDecimals);
}

function decimal(units: bigint, decimals: number): string {
  const text = units.toString().padStart(decimals + 1, "0");
  const whole = text.slice(0, -decimals);
  return `${whole}.${text.slice(-decimals)}`;
}

function isKilled(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Killed) return true;
  }
  return false;
}
