import { sweepDeadlines } from "../../src/features/invoices/settlement/settlement.ts";
import { examineRefunds } from "../../src/features/refunds/verification/examiner.ts";
import { networkReadersOf } from "../../src/features/payments/networks/readers.ts";
import {
  getSandboxBill,
  mineBlocks,
  openSandbox,
  payOnSandbox,
  reorganizeSandbox,
  sandboxOf,
} from "../../src/features/payments/sandbox/sandbox.ts";
import type { Id } from "../../src/kernel/id.ts";
import { makeSandbox, type SandboxPayment } from "../../src/platform/chain/sandbox/chain.ts";
import { networkState } from "../../src/platform/chain/state/network-state.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import type { App } from "../../src/app.ts";
import { expectStatus, type Answer, type TestApp } from "./app.ts";
import { testContext } from "./store/stores.ts";

/** Presses a button of the sandbox's panel on the page of a checkout, which is named by its id or link. */
export async function pressOnPage(app: TestApp, checkout: string, action: string): Promise<Answer> {
  const [checkoutId = ""] = /chk_\w+/.exec(checkout) ?? [];
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const pressed = app.request("POST", `/pay/${checkoutId}/sandbox`, {
    raw: `action=${action}`,
    headers: form,
  });
  return expectStatus(pressed, 303);
}

/** Pays to an address in the next block of the sandbox; returns the transaction's hash. */
export async function sendTokens(
  { app }: TestApp,
  to: string,
  units: bigint,
  how: Partial<SandboxPayment> = {},
): Promise<string> {
  const { network } = openedSandbox(app);
  const chain = makeSandbox({ network, clock: app.clock, randomBytes: systemRandom });
  const payment = { to, token: "USDT", amount: units, ...how };
  return (await app.db.write(testContext, (tx) => chain.pay(tx, payment))).transactionHash;
}

/** Pays an invoice in the next block: `units`, or all that remains. Returns the transaction's hash. */
export async function payInvoice(
  { app }: TestApp,
  invoice: unknown,
  units?: bigint,
): Promise<string> {
  const invoiceId = invoice as Id<"invoice">;
  const amount = units ?? (await getSandboxBill(app, invoiceId)).remaining;
  return (await payOnSandbox(app, testContext, invoiceId, amount)).transactionHash;
}

function openedSandbox(app: App) {
  const opened = sandboxOf(app);
  if (opened === null) throw new Error("the sandbox is off");
  return opened;
}

/** What payers and miners do on the sandbox of a program, and the work that the program's background would do on it. */
export interface Sandbox {
  /** Pays to an address in the next block; returns the transaction's hash. */
  pay(to: string, units: bigint, how?: Partial<SandboxPayment>): Promise<string>;
  /** Pays an invoice in the next block: `units`, or all that remains. Returns the transaction's hash. */
  payInvoice(invoiceId: unknown, units?: bigint): Promise<string>;
  /** Mines blocks and reads them. */
  mine(blocks?: number): Promise<void>;
  /** Replaces the newest blocks and reads the chain. */
  reorganize(depth: number, options: { readonly drop: boolean }): Promise<void>;
  /** Reads the chain up to its newest block. */
  look(): Promise<void>;
  /** Expires invoices and releases holds as of the newest block, as if it were final. */
  sweep(): Promise<void>;
  /** Examines the transactions that payers submitted and those that were named for refunds. */
  examine(): Promise<void>;
}

/** Opens the sandbox of a program without background work: only the test mines blocks and has them read. */
export async function playSandbox(running: TestApp): Promise<Sandbox> {
  const { app } = running;
  const { network } = openedSandbox(app);
  const readers = networkReadersOf(app);
  const holding = () => Promise.resolve();

  const sandbox: Sandbox = {
    pay: (to, units, how) => sendTokens(running, to, units, how),
    payInvoice: (invoiceId, units) => payInvoice(running, invoiceId, units),
    async mine(blocks = 1) {
      await mineBlocks(app, testContext, blocks);
      await sandbox.look();
    },
    async reorganize(depth, options) {
      await reorganizeSandbox(app, testContext, depth, options);
      await sandbox.look();
    },
    async look() {
      // Other networks have no chain to read.
      const watcher = readers.get(network.id)?.watcher;
      while (await watcher?.scan(holding));
    },
    async sweep() {
      const state = await networkState(app.db, network.id);
      if (state === null) throw new Error("the sandbox was not read");
      const read = { ...state, cursorTime: state.tipTime };
      const finalTime = () => Promise.resolve(state.tipTime);
      while ((await sweepDeadlines(app, app.clock.now(), state.network, read, finalTime)) > 0);
    },
    async examine() {
      for (const reader of readers.values()) {
        while (await reader.claims.examine(holding));
        while (await examineRefunds(app, reader, holding));
      }
    },
  };
  await openSandbox(app, testContext, 0);
  await sandbox.look();
  return sandbox;
}
