import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkoutPageToken } from "../../src/features/checkout/checkouts.ts";
import { sweepDeadlines } from "../../src/features/invoices/settlement/settlement.ts";
import { networkReadersOf } from "../../src/features/payments/networks/readers.ts";
import { expireOnSandbox, reorganizeSandbox } from "../../src/features/payments/sandbox/sandbox.ts";
import { refreshRates } from "../../src/features/rates/rates.ts";
import { examineRefunds } from "../../src/features/refunds/verification/examiner.ts";
import type { Id } from "../../src/kernel/id.ts";
import type { SandboxPayment } from "../../src/platform/chain/sandbox/chain.ts";
import { networkState } from "../../src/platform/chain/state/network-state.ts";
import { usdt } from "./amounts.ts";
import {
  approvedMerchant,
  expectStatus,
  makeDefault,
  startApp,
  type Answer,
  type Json,
  type Merchant,
  type TestApp,
} from "./app.ts";
import { playSandbox, sendTokens } from "./sandbox.ts";
import { known } from "./ledger.ts";
import { testContext, type TestStore } from "./store/stores.ts";

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
  /** Expires invoices and releases holds as of the newest block, or as of a time, as if that were final. */
  sweep(time?: number): Promise<void>;
  /** Examines the transactions that payers submitted. */
  examine(): Promise<void>;
  /** Returns the names of the workers that were woken since the last call. */
  woken(): readonly string[];
  stop(): Promise<void>;
}

/** Opens a counter on a store, whose merchants and payers use the whole program over HTTP. */
export async function openCounter(
  store: TestStore,
  settings: Readonly<Record<string, string>> = {},
): Promise<Counter> {
  const place = await store.place("migrated");
  const app = await startApp({ place, settings, background: false });
  const { db, background } = app.app;
  let wallets = 0;
  const woken: string[] = [];
  const wake = background.wake.bind(background);
  Object.assign(background, {
    wake: (worker: string) => {
      woken.push(worker);
      wake(worker);
    },
  });
  const sandbox = await playSandbox(app);

  const counter: Counter = {
    app,
    merchant: () => approvedMerchant(app),
    post: (owner, path, body) => owner.post(path, body),
    get: (owner, path) => owner.get(path),
    list: (owner, path) => owner.list(path),
    async wallet(owner) {
      wallets += 1;
      const address = (0xabcdef0000 + wallets).toString(16).padStart(40, "7");
      const { id } = await owner.addWallet({ address: `0x${address}` });
      await makeDefault(app, owner, "sandbox", id);
      return address;
    },
    issue: (owner, input) => owner.issue(input),
    pay: (to, units, how) => sendTokens(app, to, units, how),
    mine: sandbox.mine,
    async reorganize(depth, options) {
      await reorganizeSandbox(app.app, testContext, depth, options);
      await sandbox.look();
    },
    look: sandbox.look,
    async sweep(time) {
      const read = known(await networkState(db, "sandbox"));
      const cursorTime = time ?? read.tipTime;
      const state = { ...read, cursorTime };
      const agreed = () => Promise.resolve(cursorTime);
      while ((await sweepDeadlines(app.app, app.clock.now(), read.network, state, agreed)) > 0);
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
  return counter;
}

/** Blocks after which every block so far is final on the sandbox. */
export const finalBlocks = 34;

let payers = 0;

/**
 * Declares hooks that open a counter for the suite, and a merchant with one address for each test. Returns what that
 * merchant and its payers do.
 */
export function openDesk(store: TestStore, settings: Readonly<Record<string, string>> = {}) {
  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  before(async () => {
    counter = await openCounter(store, settings);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });
  const pathOf = (invoice: Json) => `/v1/checkout/${String(invoice["checkoutId"])}`;
  /** Mines after a time in which the watcher stores a new tip that has no transfers. */
  async function pass(blocks = 1): Promise<void> {
    counter.app.clock.advance(1_100);
    await counter.mine(blocks);
  }
  const desk = {
    get counter() {
      return counter;
    },
    get merchant() {
      return merchant;
    },
    get address() {
      return address;
    },
    issue: (input: Json = {}) => counter.issue(merchant, input),
    read: ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`),
    post: (path: string, body?: unknown) => counter.post(merchant, path, body),
    /** Pays tokens to the address and mines blocks. Returns the transaction's hash. */
    pay: async (amount: unknown, blocks = 3) => {
      const hash = await counter.pay(address, usdt(amount));
      await counter.mine(blocks);
      return hash;
    },
    /** Returns the newest transfer in the inbox; null if it is empty. */
    inboxed: async (): Promise<Json | null> => {
      const [newest] = await counter.list(merchant, "/transfers?status=unmatched");
      return newest ?? null;
    },
    /** Returns an address of a payer that no other test uses, in canonical form. */
    newAddress: () => (0xfeed0000 + (payers += 1)).toString(16).padStart(40, "c"),
    /** Pays exactly what an invoice asks for, or another amount, until the block is final. Returns the transaction's hash. */
    async paid(invoice: Json, amount: unknown = invoice["payableAmount"]) {
      const hash = await desk.pay(amount);
      await pass(finalBlocks);
      return hash;
    },
    /** Moves an invoice's deadline to now, and mines until it is expired. */
    async expire(invoice: Json) {
      const { app } = counter.app;
      await expireOnSandbox(app, testContext, invoice["id"] as Id<"invoice">);
      await pass();
      const state = known(await networkState(app.db, "sandbox"));
      const finalTime = () => Promise.resolve(null);
      await sweepDeadlines(app, app.clock.now(), "sandbox", state, finalTime);
    },
    /** The token of the forms on an invoice's page. */
    pageToken: (invoice: Json) => checkoutPageToken(counter.app.app, String(invoice["checkoutId"])),
    /** Asks for a refund as the payer does. */
    ask: (invoice: Json, transactionHash: string, payerAddress: string) =>
      counter.app.request("POST", `${pathOf(invoice)}/refund`, {
        body: { transactionHash, address: payerAddress, pageToken: desk.pageToken(invoice) },
        // The kept response is made from the result of the write, so it may differ from that of a request without a key.
        headers: { "idempotency-key": randomUUID() },
      }),
    session: async (invoice: Json): Promise<Json> =>
      (await expectStatus(counter.app.request("GET", pathOf(invoice)), 200)).body,
    refunds: (query = "") => counter.list(merchant, `/refunds${query}`),
    /** The only refund of an invoice. */
    async refundOf(invoice: Json): Promise<Json> {
      const [refund, ...others] = await desk.refunds(`?invoiceId=${String(invoice["id"])}`);
      if (refund === undefined || others.length > 0) throw new Error("there is not one refund");
      return refund;
    },
    /** Sends tokens from the merchant's wallet. Returns the transaction's hash. */
    async give(to: string, amount: unknown, how: Partial<SandboxPayment> = {}) {
      const hash = await counter.pay(to, usdt(amount), { from: address, ...how });
      await counter.mine();
      return hash;
    },
    /** Names the transaction of a refund. */
    name: (refund: Json, transactionHash: string) =>
      desk.post(`/refunds/${String(refund["id"])}/send`, { transactionHash }),
    /** Examines the transactions that were named, at a time at which each is due. */
    async examine() {
      // The sandbox's blocks do not follow a clock that is moved, so the attempts are moved instead.
      await counter.app.app.db.write(testContext, async (tx) => {
        await tx.run("UPDATE refunds SET next_at = 0 WHERE status = 'sent'");
        await tx.run("UPDATE payment_claims SET next_at = 0 WHERE state = 'waiting'");
      });
      await counter.examine();
    },
    /** Makes every block so far final. */
    async settle() {
      await pass(finalBlocks);
      await desk.examine();
    },
  };
  return desk;
}

/** Returns the invoices that are suggested for a transfer in the inbox, best first. */
export function suggestedFor(transfer: Json | null): Json[] {
  const suggestions = (transfer?.["suggestions"] ?? []) as Json[];
  return suggestions.map(({ invoiceId, reasons, amount }) => ({ invoiceId, reasons, amount }));
}

/** Tokens of the sandbox beside USDT and USDC. EURT has a rate that the test sets, and NONE has none. */
const tokens = {
  EURT: { decimals: 6, pegs: "[EUR]", dust: "0.01" },
  WBTC: { decimals: 8, pegs: "[]", dust: "0.00000001" },
  GOLD: { decimals: 18, pegs: "[]", dust: "0.00001" },
  CENT: { decimals: 2, pegs: "[USD]", dust: "0.01" },
  DAI: { decimals: 18, pegs: "[USD]", dust: "0.01" },
  GUSD: { decimals: 2, pegs: "[USD]", dust: "0.01" },
  NONE: { decimals: 6, pegs: "[GBP]", dust: "0.01" },
} as const;

export interface OptionsCounter extends Counter {
  /** Sets the price of a euro in dollars. */
  setEuro(price: string): Promise<void>;
}

/** Opens a counter whose sandbox has nine tokens, at different rates. */
export async function openOptionsCounter(store: TestStore): Promise<OptionsCounter> {
  const folder = await mkdtemp(join(tmpdir(), "till options "));
  let euro = "1.25";
  const source = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json").end(`{"price":${euro}}`);
  });
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  // A failed start must not keep the suite alive.
  source.unref();
  const url = `http://127.0.0.1:${String((source.address() as AddressInfo).port)}`;
  const table = await readFile(new URL("../../config/networks.yaml", import.meta.url), "utf8");
  const more = Object.entries(tokens).map(
    ([symbol, { decimals, pegs, dust }], place) => `      ${symbol}:
        title: ${symbol} (test)
        contract: "0x${String(place + 1).repeat(40)}"
        decimals: ${String(decimals)}
        pegs: ${pegs}
        dust: "${dust}"
`,
  );
  await writeFile(join(folder, "networks.yaml"), table.trimEnd() + "\n" + more.join(""));
  await writeFile(
    join(folder, "rates.yaml"),
    `refreshSeconds: 60
maxAgeSeconds: 900
maxJumpPercent: "99"
pairs:
  EUR/USD:
    sources:
      - { name: one, url: "${url}", value: /price }
  WBTC/USD: { fixed: "100000.01" }
  GOLD/USD: { fixed: "3" }
`,
  );
  const counter = await openCounter(store, {
    TILL_RATES: "on",
    TILL_NETWORKS_FILE: join(folder, "networks.yaml"),
    TILL_RATES_FILE: join(folder, "rates.yaml"),
  });
  const setEuro = async (price: string) => {
    euro = price;
    await refreshRates(counter.app.app, testContext);
    counter.app.clock.advance(1_000);
  };
  await setEuro(euro);
  return {
    ...counter,
    setEuro,
    async stop() {
      await counter.stop();
      source.closeAllConnections();
      source.close();
      await rm(folder, { recursive: true });
    },
  };
}
