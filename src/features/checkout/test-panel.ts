import type { App } from "../../app.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { SandboxRefused } from "../../platform/chain/sandbox/chain.ts";
import { systemContext } from "../../platform/database/database.ts";
import {
  expireOnSandbox,
  getSandboxBill,
  mineBlocks,
  payOnSandbox,
  reorganizeSandbox,
  sandboxOf,
} from "../payments/sandbox/sandbox.ts";
import { requireCheckout } from "./cache.ts";
import type { CheckoutSession } from "./session.ts";

const panelActions = ["pay", "underpay", "overpay", "mine", "reorganize", "expire"] as const;
type PanelAction = (typeof panelActions)[number];
/** The action that was performed; `no-payment` if a reorganization can remove no payment of the invoice. */
export type PanelResult = PanelAction | "no-payment";

const payer = systemContext("checkout");

/** Whether the page of a session has a test panel. */
export function hasTestPanel(app: App, { invoice }: CheckoutSession): boolean {
  const network = app.networks.known.get(invoice.network);
  return network !== undefined && isSimulated(app, network);
}

/** Performs an action of the test panel; 404 unless the invoice is on the test network. */
export async function pressTestPanel(
  app: App,
  checkoutId: string,
  action: string,
): Promise<PanelResult> {
  const { network, invoice } = (await requireCheckout(app, checkoutId)).view;
  if (!isSimulated(app, network)) throw notFound();
  return act(app, invoice.id, readAction(action));
}

/** Whether the panel may act: never for an invoice on another network than the sandbox. */
function isSimulated(app: App, { kind }: Network): boolean {
  return kind.isSimulated && sandboxOf(app) !== null;
}

function readAction(text: string): PanelAction {
  const action = panelActions.find((known) => known === text);
  if (action !== undefined) return action;
  throw invalidField("/action", "invalid_value", `must be one of ${panelActions.join(", ")}`);
}

async function act(app: App, invoiceId: Id<"invoice">, action: PanelAction): Promise<PanelResult> {
  switch (action) {
    case "pay":
    case "underpay":
    case "overpay":
      await pay(app, invoiceId, action);
      break;
    case "mine":
      await mineBlocks(app, payer, 1);
      break;
    case "reorganize":
      if (!(await loseNewestPayment(app, invoiceId))) return "no-payment";
      break;
    case "expire":
      await expireOnSandbox(app, payer, invoiceId);
  }
  return action;
}

/** Pays the remaining amount, half of it, or one token too much. */
async function pay(
  app: App,
  invoiceId: Id<"invoice">,
  how: "pay" | "underpay" | "overpay",
): Promise<void> {
  const { remaining, tokenDecimals } = await getSandboxBill(app, invoiceId);
  const one = 10n ** BigInt(tokenDecimals);
  const amounts = { pay: remaining, underpay: (remaining + 1n) / 2n, overpay: remaining + one };
  await payOnSandbox(app, payer, invoiceId, amounts[how]);
}

/**
 * Replaces the blocks from the invoice's newest payment on with others that lack it. Returns false if no block that can
 * still be replaced has one.
 */
async function loseNewestPayment(app: App, invoiceId: Id<"invoice">): Promise<boolean> {
  try {
    await reorganizeSandbox(app, payer, invoiceId, { drop: true });
    return true;
  } catch (error) {
    if (error instanceof SandboxRefused) return false;
    throw error;
  }
}
