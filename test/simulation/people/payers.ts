import {
  chooseCheckoutOption,
  submitCheckoutTransaction,
} from "../../../src/features/checkout/checkouts.ts";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import type { Address } from "../../../src/platform/chain/client.ts";
import { parseAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { encodeAmount } from "../../../src/platform/database/schema/table.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Sending } from "../chain.ts";
import type { Invoice } from "../deeds.ts";
import type { Ground } from "../ground.ts";
import { heldIn } from "../options.ts";
import { shareOf, type Share } from "../rules/shares.ts";
import type { Step } from "../steps.ts";

type Payment = Extract<Step, { kind: "pay" }>["how"];

/** Payers, who send tokens and submit the hashes of their transactions. */
export interface Payers {
  readonly pay: (invoice: Invoice, how: Payment, hold?: number) => Promise<void>;
  /**
   * Sends so much less than an invoice asks for that this remains; returns the transaction's hash, or null if nothing was
   * sent.
   */
  readonly payBut: (invoice: Invoice, remaining: bigint) => Promise<string | null>;
  /** Sends USDT to an address for something that Till does not know, in the token's smallest unit; returns the hash. */
  readonly payForElse: (to: Address, amount: bigint) => string;
  /** Chooses one of the options of an invoice. */
  readonly choose: (step: Extract<Step, { kind: "choose" }>) => Promise<void>;
  readonly submit: (step: Extract<Step, { kind: "submit" }>) => Promise<void>;
}

const feePercent = 4n;

export function makePayers(ground: Ground): Payers {
  const { db, chain, chance, attempt, invoiceAt, mine } = ground;
  const { network } = ground.stage;
  const { payments: paid, given, rounded, entered, hit, ownMoney, faults } = ground.deeds;
  let transactions = 0;

  async function pay(
    invoice: Invoice,
    how: Payment | "but",
    hold = 0,
    remaining = 0n,
  ): Promise<void> {
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
    const [sentBefore] = sentShare(invoice);
    // An amount of another option than that in force is what its page showed only before the first payment.
    const isUnpaid = held.length === 1 ? !isAllSent(invoice) : sentBefore === 0n;
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
      case "six":
      case "eight": {
        const finest = finestOf(token.decimals, how === "six" ? 6 : 8);
        if (told % finest !== 0n)
          faults.push(`no wallet can send ${String(told)} for ${invoice.id}`);
        sent.push(send(told, {}, true));
        break;
      }
      case "two_down":
      case "two_up":
      case "two_nearest": {
        const hundredth = finestOf(token.decimals, 2);
        const more = how === "two_up" ? hundredth - 1n : how === "two_down" ? 0n : hundredth / 2n;
        const amount = ((told + more) / hundredth) * hundredth;
        const transfer = send(amount, {}, amount === told);
        sent.push(transfer);
        await noteBare(invoice, transfer, paying.symbol);
        break;
      }
      case "fee_one":
      case "fee_half":
      case "fee_percent": {
        const unit = 10n ** BigInt(token.decimals);
        const fees = {
          fee_one: unit,
          fee_half: unit / 2n,
          fee_percent: (told * feePercent) / 100n,
        };
        if (fees[how] >= told) return;
        const transfer = send(told - fees[how]);
        sent.push(transfer);
        await noteBare(invoice, transfer, paying.symbol, told);
        break;
      }
      case "own_wallet": {
        const from = await otherWalletOf(invoice, to);
        if (from === null) return;
        const transfer = send(told, { from });
        ownMoney.add(transfer.transactionHash);
        sent.push(transfer);
        break;
      }
      case "but":
        if (remaining >= told) return;
        sent.push(send(told - remaining));
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
    const isOdd = ["part", "over", "split", "dust", "but"].includes(how);
    if (isOdd && !isOwn && (await isAnnounced(invoice, sent))) return;
    const isNear = how.startsWith("two_") || how.startsWith("fee_");
    if (isNear && !isOwn && (await isTolerated(invoice, sent))) return;
    mine(1, sent);
  }

  async function payBut(invoice: Invoice, remaining: bigint): Promise<string | null> {
    const before = paid.size;
    await pay(invoice, "but", 0, remaining);
    const hash = [...paid.keys()].at(-1) ?? null;
    const isMined = chain.tip().logs.some(({ transactionHash }) => transactionHash === hash);
    return paid.size > before && isMined ? hash : null;
  }

  function payForElse(to: Address, amount: bigint): string {
    transactions += 1;
    const transactionHash = `7${transactions.toString(16).padStart(63, "0")}`;
    const contract = network.tokens.find(({ symbol }) => symbol === "USDT")?.contract ?? "";
    paid.set(transactionHash, { transactionHash, meant: null, isAsTold: false });
    mine(1, [{ transactionHash, contract, from: "a".repeat(40), to, amount }]);
    return transactionHash;
  }

  /** Returns an address of the invoice's merchant that is not the one that receives; null if none is known. */
  async function otherWalletOf(
    { organizationId, managedBy }: Invoice,
    to: Address,
  ): Promise<Address | null> {
    const place = ground.stage.cast.organizations.indexOf(organizationId);
    if (place === -1 || managedBy !== null) return null;
    const shared = String(place + 1).repeat(40);
    if (shared !== to) return shared;
    const [found] = await db.find(
      invoices,
      "WHERE organization_id = $1 AND address_index IS NOT NULL AND wallet_address IS NOT NULL ORDER BY id DESC LIMIT 1",
      [organizationId],
    );
    const parsed = found?.walletAddress == null ? null : parseAddress(found.walletAddress);
    return parsed?.ok === true ? parsed.address : null;
  }

  /** Returns the transfers on the chain that were meant for an invoice, or may be credited to it. */
  function sentTo(id: string) {
    return chain.blocks
      .flatMap(({ logs }) => logs)
      .filter(({ transactionHash: hash }) => {
        return paid.get(hash)?.meant === id || given.get(hash)?.has(id) === true;
      });
  }

  /** Returns the share of an invoice that its transfers would pay. */
  function sentShare(invoice: Invoice): Share {
    const sent = sentTo(invoice.id).map(({ amount, contract }) => {
      return {
        amount,
        token: network.tokens.find((each) => each.contract === contract)?.symbol ?? "",
      };
    });
    return shareOf(invoice, sent);
  }

  /** True if the transfers of an invoice are all of it, to the last unit: a part and the rest that was asked for are. */
  function isAllSent(invoice: Invoice): boolean {
    const [part, all] = sentShare(invoice);
    return part >= all;
  }

  async function choose(step: Extract<Step, { kind: "choose" }>): Promise<void> {
    const invoice = await invoiceAt(step.invoice);
    const options = invoice?.paymentOptions ?? [];
    const option = options[step.option % options.length];
    const checkoutId = invoice?.checkoutId;
    if (option === undefined || checkoutId == null) return;
    await attempt(({ app }) => chooseCheckoutOption(app, testContext, checkoutId, option));
  }

  /**
   * An amount that a payer rounded, or of which an exchange kept a part, is just what an unpaid invoice may ask for, in
   * whichever of its options: that one may be credited, unless a payer entered its price, or it and the payer's own
   * invoice ask for bare prices, of which `told` is that of the payer.
   */
  async function noteBare(
    invoice: Invoice,
    { transactionHash, amount, to }: Sending,
    token: string,
    told: bigint | null = null,
  ): Promise<void> {
    const own = invoice.id;
    const [ownHolds, equal] = await Promise.all([
      db.find(holds, "WHERE invoice_id = $1", [own]),
      db.find(holds, "WHERE address = $1 AND token = $2 AND amount = $3", [
        ...[to, token],
        encodeAmount(amount),
      ]),
    ]);
    const isBare = ({ price, amount: asking }: (typeof equal)[number]) => price === asking;
    const isTold = ownHolds.some((each) => each.amount === told && isBare(each));
    const isOneUnpaid = isTold && !isAllSent(invoice);
    const ids = new Set(
      equal
        .filter((each) => !entered.has(each.invoiceId) && !(isOneUnpaid && isBare(each)))
        .map(({ invoiceId }) => invoiceId),
    );
    const found = await db.find(
      invoices,
      "WHERE id IN (SELECT invoice_id FROM holds WHERE address = $1 AND token = $2)",
      [to, token],
    );
    const asking = found.filter(({ id }) => id !== own && ids.has(id));
    rounded.set(transactionHash, new Set(asking.map(({ id }) => id)));
    for (const { id } of asked(asking, token, amount)) {
      const isHit = equal.some((each) => each.invoiceId === id && !isBare(each));
      if (told !== null && isHit) hit.set(transactionHash, id);
      given.set(transactionHash, (given.get(transactionHash) ?? new Set()).add(id));
    }
  }

  const asked = (rows: readonly Invoice[], token: string, amount: bigint) =>
    rows.filter((row) => {
      const isShown = heldIn(row).some((one) => one.symbol === token && one.payable === amount);
      return isShown && !isAllSent(row);
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

  /** True if another merchant's tolerance would take the amount. */
  async function isTolerated(invoice: Invoice, sent: readonly Sending[]): Promise<boolean> {
    const others = await db.find(holds, "WHERE address = $1 AND invoice_id <> $2", [
      sent[0]?.to ?? "",
      invoice.id,
    ]);
    return others.some(
      ({ invoiceId, leastAmount, amount: most }) =>
        !entered.has(invoiceId) &&
        sent.some(({ amount }) => leastAmount <= amount && amount < most),
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
    await attempt(({ app }) =>
      submitCheckoutTransaction(app, testContext, checkoutId, `0x${hash}`),
    );
  }

  return { pay, payBut, payForElse, choose, submit };
}

/** Returns the smallest amount that a wallet of so many decimals can send. */
function finestOf(tokenDecimals: number, walletDecimals: number): bigint {
  return 10n ** BigInt(Math.max(0, tokenDecimals - walletDecimals));
}

/** Returns an invoice's bare price in the token's smallest units; null if a rate decides it. */
function priceOf(invoice: Invoice): bigint | null {
  if (invoice.settlementCurrency !== "USD") return null;
  return invoice.amount * 10n ** BigInt(invoice.tokenDecimals - invoice.settlementDecimals);
}
