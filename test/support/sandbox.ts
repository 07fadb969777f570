import type { App } from "../../src/app.ts";
import { networkReadersOf } from "../../src/features/payments/networks/readers.ts";
import {
  getSandboxBill,
  mineBlocks,
  openSandbox,
  payOnSandbox,
  sandboxOf,
} from "../../src/features/payments/sandbox/sandbox.ts";
import type { Id } from "../../src/kernel/id.ts";
import { makeSandbox, type SandboxPayment } from "../../src/platform/chain/sandbox/chain.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { expectStatus, type Answer, type TestApp } from "./app.ts";
import { testContext } from "./store/stores.ts";

/** Presses a button of the sandbox's panel on the page of a checkout, which is named by its id or link. */
export async function pressOnPage(app: TestApp, checkout: string, action: string): Promise<Answer> {
  const [checkoutId = ""] = /chk_\w+/.exec(checkout) ?? [];
  const pressed = app.request("POST", `/pay/${checkoutId}/sandbox`, {
    raw: `action=${action}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
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
  const network = sandboxIn(app);
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

/** The sandbox of a program without background work: only the test mines blocks and has them read. */
export interface Sandbox {
  /** Mines blocks and reads them. */
  readonly mine: (blocks?: number) => Promise<void>;
  /** Reads the chain up to its newest block. */
  readonly look: () => Promise<void>;
}

export async function playSandbox({ app }: TestApp): Promise<Sandbox> {
  // Other networks have no chain to read.
  const reader = networkReadersOf(app).get(sandboxIn(app).id);
  if (reader === undefined) throw new Error("the sandbox is not read");
  const { watcher } = reader;
  async function look(): Promise<void> {
    while (await watcher.scan(() => Promise.resolve()));
  }
  await openSandbox(app, testContext, 0);
  await look();
  return {
    look,
    async mine(blocks = 1) {
      await mineBlocks(app, testContext, blocks);
      await look();
    },
  };
}

function sandboxIn(app: App) {
  const opened = sandboxOf(app);
  if (opened === null) throw new Error("the sandbox is off");
  return opened.network;
}
