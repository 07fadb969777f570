import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { parseAddress } from "../../../src/platform/chain/evm/address.ts";
import { encodeAmount } from "../../../src/platform/database/index.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Sending } from "../chain.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { heldIn, whole } from "../options.ts";
import type { Step } from "../steps.ts";

type Payment = Extract<Step, { kind: "pay" }>["how"];

/** Payers, who send tokens and submit the hashes of their transactions. */
export interface Payers {
  readonly pay: (invoice: Invoice, how: Payment, hold?: number) => Promise<void>;
  /** Chooses one of the options of an invoice. */
  readonly choose: (step: Extract<Step, { kind: "choose" }>) => Promise<void>;
  readonly submit: (step: Extract<Step, { kind: "submit" }>) => Promise<void>;
}

export function makePayers(ground: Ground): Payers {
  const { db, chain, chance, attempt, invoiceAt, mine } = ground;
  const { network } = ground.stage;
  const { payments: paid, given, rounded } = ground.deeds;
  let transactions = 0;

  async function pay(invoice: Invoice, how: Payment, hold = 0): Promise<void> {
    const held = heldIn(invoice);
    const paying = held[hold % held.length];
    if (paying === undefined) return;
    const { payable, isOwn } = paying;
    const token = network.tokens.find(({ symbol }) => symbol === paying.symbol);
    const parsed = parseAddress(paying.address);
    const { remainingAmount } = invoice;
    if (token === undefined || !parsed.ok) return;
    const to = parsed.address;
    const isAsking = paying.isInForce && remainingAmount !== null && remainingAmount !== 0n;
    const told = isAsking ? remainingAmount : payable;
    const sentBefore = sentShare(invoice);
    // An amount of another option than that in force is what its page showed only before the first payment.
    const isUnpaid = held.length === 1 ? sentBefore < whole : sentBefore === 0n;
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
    const sent: Sending[] = [];
    switch (how) {
      case "exact":
        sent.push(send(told, {}, true));
        break;
      case "rounded":
        if (price !== null && held.length === 1) {
          const transfer = send(price);
          sent.push(transfer);
          await noteBare(invoice, transfer, paying.symbol);
        }
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
        // To a payer with a choice, the token may be another option, now or soon.
        if (invoice.paymentOptions !== null) return;
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
    // Except for payers who round, nobody pays by chance the amount of another invoice.
    const isOdd = how === "part" || how === "over" || how === "split" || how === "dust";
    if (isOdd && !isOwn && (await isAnnounced(invoice, sent))) return;
    mine(1, sent);
  }

  /** Returns the transfers on the chain that were meant for an invoice, or may be credited to it. */
  function sentTo(id: string) {
    return chain.blocks
      .flatMap(({ logs }) => logs)
      .filter(({ transactionHash: hash }) => {
        return paid.get(hash)?.meant === id || given.get(hash)?.has(id) === true;
      });
  }

  /** Returns the share of an invoice that its transfers would pay; `whole` is all of it. */
  function sentShare(invoice: Invoice): bigint {
    const held = heldIn(invoice);
    return sentTo(invoice.id).reduce((sum, { amount, contract }) => {
      const symbol = network.tokens.find((token) => token.contract === contract)?.symbol;
      const payable = (held.find((one) => one.symbol === symbol) ?? held[0])?.payable ?? 0n;
      return payable === 0n ? sum : sum + (amount * whole) / payable;
    }, 0n);
  }

  async function choose(step: Extract<Step, { kind: "choose" }>): Promise<void> {
    const invoice = await invoiceAt(step.invoice);
    const options = invoice?.paymentOptions ?? [];
    const option = options[step.option % options.length];
    const checkoutId = invoice?.checkoutId;
    if (option === undefined || checkoutId == null) return;
    await attempt(({ services }) =>
      services.checkout.chooseOption(testContext, checkoutId, option),
    );
  }

  /**
   * The price without what tells it from others is just what an unpaid invoice may ask for, in whichever of its options:
   * that one may be credited.
   */
  async function noteBare(
    { id: own }: Invoice,
    { transactionHash, amount, to }: Sending,
    token: string,
  ): Promise<void> {
    const asking = await db.find(
      invoices,
      `WHERE id <> $1 AND id IN (
         SELECT invoice_id FROM holds WHERE address = $2 AND token = $3 AND amount = $4
       )`,
      [own, to, token, encodeAmount(amount)],
    );
    rounded.set(transactionHash, new Set(asking.map(({ id }) => id)));
    for (const { id } of asked(asking, token, amount)) {
      given.set(transactionHash, (given.get(transactionHash) ?? new Set()).add(id));
    }
  }

  const asked = (rows: readonly Invoice[], token: string, amount: bigint) =>
    rows.filter((row) => {
      const isShown = heldIn(row).some((one) => one.symbol === token && one.payable === amount);
      return isShown && sentShare(row) < whole;
    });

  async function isAnnounced(invoice: Invoice, sent: readonly Sending[]): Promise<boolean> {
    const others = await db.find(holds, "WHERE address = $1 AND invoice_id <> $2", [
      sent[0]?.to ?? "",
      invoice.id,
    ]);
    return others.some((other) =>
      sent.some(({ amount }) => other.leastAmount <= amount && amount <= other.amount),
    );
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
    await attempt(({ services }) =>
      services.checkout.submitTransaction(testContext, checkoutId, `0x${hash}`),
    );
  }

  return { pay, choose, submit };
}

/** Returns an invoice's bare price in the token's smallest units; null if a rate decides it. */
function priceOf(invoice: Invoice): bigint | null {
  if (invoice.settlementCurrency !== "USD") return null;
  return invoice.amount * 10n ** BigInt(invoice.tokenDecimals - invoice.settlementDecimals);
}
