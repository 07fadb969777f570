import { sweepDeadlines } from "../../../../src/features/invoices/settlement/settlement.ts";
import { examineRefunds } from "../../../../src/features/refunds/verification/examiner.ts";
import { networkReadersOf } from "../../../../src/features/payments/networks/readers.ts";
import {
  mineBlocks,
  openSandbox,
  reorganizeSandbox,
  sandboxOf,
} from "../../../../src/features/payments/sandbox/sandbox.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { makeSandbox, type SandboxPayment } from "../../../../src/platform/chain/sandbox/chain.ts";
import { networkState } from "../../../../src/platform/chain/state/network-state.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  makeDefault,
  type Answer,
  type TestApp,
} from "../../../support/app.ts";
import type { TestStore } from "../../../support/store/stores.ts";

export type Merchant = Awaited<ReturnType<typeof approvedMerchant>>;
export type Json = Readonly<Record<string, unknown>>;

const tester = { actor: systemActor("tests"), requestId: null, ip: null };
const holding = () => Promise.resolve();

/** Merchants on a sandbox whose chain is mined and scanned only by the test. */
export interface Counter {
  readonly app: TestApp;
  merchant(): Promise<Merchant>;
  post(owner: Merchant, path: string, body?: unknown): Promise<Answer>;
  get(owner: Merchant, path: string): Promise<Json>;
  list(owner: Merchant, path: string): Promise<Json[]>;
  /** Registers a new address, makes it the default of its network, and returns it in canonical form. */
  wallet(owner: Merchant): Promise<string>;
  /** Issues an invoice, by default for 25.00 USD in USDT. */
  issue(owner: Merchant, input?: Json): Promise<Json>;
  /** Pays to an address in the next block; returns the transaction's hash. */
  pay(to: string, units: bigint, how?: Partial<SandboxPayment>): Promise<string>;
  /** Mines blocks and scans them. */
  mine(blocks?: number): Promise<void>;
  /** Replaces the newest blocks and scans the chain. */
  reorganize(depth: number, options: { readonly drop: boolean }): Promise<void>;
  look(): Promise<void>;
  /** Expires invoices and releases holds as of the newest block, as if it were final. */
  sweep(): Promise<void>;
  /** Examines the transactions that payers submitted. */
  examine(): Promise<void>;
  /** Returns the names of the workers that were woken since the last call. */
  woken(): readonly string[];
  stop(): Promise<void>;
}

export async function openCounter(
  store: TestStore,
  settings: Readonly<Record<string, string>> = {},
): Promise<Counter> {
  const place = await store.place("migrated");
  const app = await startApp({ place, settings, background: false });
  const { db, background } = app.app;
  const sandbox = sandboxOf(app.app);
  if (sandbox === null) throw new Error("the sandbox is off");
  const chain = makeSandbox({
    network: sandbox.network,
    clock: app.clock,
    randomBytes: systemRandom,
  });
  // Other networks have no chain to scan.
  const watchers = [...networkReadersOf(app.app).values()]
    .filter(({ network }) => network.id === sandbox.network.id)
    .map(({ watcher }) => watcher);
  let wallets = 0;
  const woken: string[] = [];
  const wake = background.wake.bind(background);
  Object.assign(background, {
    wake: (worker: string) => {
      woken.push(worker);
      wake(worker);
    },
  });

  const counter: Counter = {
    app,
    merchant: () => approvedMerchant(app),
    post: (owner, path, body) =>
      app.request("POST", `/v1/organizations/${owner.organizationId}${path}`, {
        key: owner.key,
        body,
      }),
    async get(owner, path) {
      const asked = app.request("GET", `/v1/organizations/${owner.organizationId}${path}`, {
        key: owner.key,
      });
      return (await expectStatus(asked, 200)).body;
    },
    list: async (owner, path) => (await counter.get(owner, path))["data"] as Json[],
    async wallet(owner) {
      wallets += 1;
      const address = (0xabcdef0000 + wallets).toString(16).padStart(40, "7");
      const body = { label: "Till", network: "sandbox", address: `0x${address}` };
      const made = await expectStatus(counter.post(owner, "/wallets", body), 201);
      await makeDefault(app, owner, "sandbox", made.body["id"]);
      return address;
    },
    async issue(owner, input = {}) {
      const priced = { amount: "25.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
      const body = { ...priced, network: "sandbox", ...input };
      return (await expectStatus(counter.post(owner, "/invoices", body), 201)).body;
    },
    async pay(to, units, how = {}) {
      const payment = { to, token: "USDT", amount: units, ...how };
      return (await db.write(tester, (tx) => chain.pay(tx, payment))).transactionHash;
    },
    async mine(blocks = 1) {
      await mineBlocks(app.app, tester, blocks);
      await counter.look();
    },
    async reorganize(depth, options) {
      await reorganizeSandbox(app.app, tester, depth, options);
      await counter.look();
    },
    async look() {
      for (const watcher of watchers) while (await watcher.scan(holding));
    },
    async sweep() {
      const state = await networkState(db, sandbox.network.id);
      if (state === null) throw new Error("the sandbox was not read");
      const finalTime = () => Promise.resolve(state.tipTime);
      while (
        (await sweepDeadlines(
          app.app,
          app.clock.now(),
          state.network,
          { ...state, cursorTime: state.tipTime },
          finalTime,
        )) > 0
      );
    },
    async examine() {
      for (const reader of networkReadersOf(app.app).values()) {
        while (await reader.claims.examine(holding));
        while (await examineRefunds(app.app, reader, holding));
      }
    },
    woken: () => woken.splice(0),
    stop: () => app.stop(),
  };
  await openSandbox(app.app, tester, 0);
  await counter.look();
  return counter;
}
