import { holds, invoices } from "../../src/features/invoices/table.ts";
import { identityOf, isSameTransfer } from "../../src/features/payments/ledger/chain-diff.ts";
import {
  payments,
  paymentClaims,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../src/features/payments/table.ts";
import { refunds } from "../../src/features/refunds/store.ts";
import { day, hour, minute, second } from "../../src/kernel/clock.ts";
import type { Id } from "../../src/kernel/id.ts";
import {
  transferKey,
  type TransferIdentity,
  type TransferLog,
} from "../../src/platform/chain/client.ts";
import { parseAddress } from "../../src/platform/chain/evm/addresses.ts";
import { billingFaults } from "./rules/bills.ts";
import { enteredFaults, waitsFor } from "./rules/entered.ts";
import {
  askFaults,
  isUnpaidAt,
  mayBeKept,
  priceFaults,
  reachOf,
  stepOf,
  type Ledger,
} from "./rules/prices.ts";
import {
  holdEnd,
  isRounded,
  shareOf,
  statusOf,
  tokensOf,
  total,
  worthOf,
  type Counted,
  type Share,
} from "./rules/shares.ts";
import { timeFaults } from "./rules/times.ts";
import { idleAddress, type Stage } from "./stage.ts";
import type { Invoice } from "./deeds.ts";
import { dustOf, heldIn } from "./options.ts";
import type { World } from "./world.ts";

// The state of the store that must be reached once everybody has told the truth for long enough, derived from the chain
// and from the deeds of the people.
// Nothing here calls a rule of the product.

/** Nothing is said of what happens so near to a moment that the product and the model could see otherwise. */
const slackMs = 4 * hour;
/** How long before an invoice a payment of the same amount may have been made that nobody had read by then. */
const unreadMs = 5 * minute;
/** How long before an invoice the chain was read, and a new block was there, if the order is known in any case. */
const readMs = 30 * second;
const newMs = 100 * second;

/** Everything that is not as it must be; empty where all is. */
export async function faultsOf({ db, chain, deeds }: World, stage: Stage): Promise<string[]> {
  const faults: string[] = [...deeds.faults];
  const expect = (isSo: boolean, fault: () => string): void => {
    if (!isSo) faults.push(fault());
  };
  const [rows, assigned, known, held, claims] = await Promise.all([
    db.find(invoices, "WHERE status <> 'draft' ORDER BY id"),
    db.find(payments, "ORDER BY id"),
    db.find(transfers, "WHERE status = 'seen' ORDER BY id"),
    db.find(holds, "ORDER BY id"),
    db.find(paymentClaims, "ORDER BY id"),
  ]);
  const counted = assigned.filter(
    ({ status }) => status === "confirming" || status === "confirmed",
  );
  const tokenDecimals = new Map(
    stage.network.tokens.map((token) => [token.symbol, token.decimals]),
  );
  const decimalsOf = (token: string) => tokenDecimals.get(token) ?? 0;
  const ledger: Ledger = { rows, assigned, counted, known, held, decimalsOf };
  const logs = chain.blocks.flatMap((block) => block.logs);
  const hashes = logs.map(({ transactionHash }) => transactionHash);
  const tip = chain.tip().time;
  const contracts = new Map(stage.network.tokens.map((token) => [token.symbol, token]));

  // Every transfer to a watched address, or to a wallet a day ago, is on record once, and no other is.
  const places = new Map<string, number>();
  for (const row of known) {
    const place = placeOf({ ...identityOf(row), blockHash: row.blockHash });
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  for (const log of logs) {
    const place = placeOf(log);
    const times = places.get(place) ?? 0;
    places.delete(place);
    const isGift = log.to === idleAddress;
    const isOurs = isGift || (isMoney(log) && rows.some((row) => isMeantInTime(row, log)));
    // Only what is in blocks that an operator gave up may be missing.
    if (isOurs && !deeds.givenUp.has(log.blockHash)) {
      expect(times === 1, () => `the transfer ${place} is on record ${String(times)} times`);
    } else {
      expect(times <= 1, () => `the transfer ${place} is on record ${String(times)} times`);
    }
  }
  for (const place of places.keys()) faults.push(`the transfer ${place} is not on the chain`);

  // Money is credited to the invoice that it was meant for, or that somebody gave it to, and never twice.
  const rowOf = new Map(known.map((row) => [row.id, row]));
  const taken = new Map<Id<"transfer">, bigint>();
  for (const payment of counted) {
    const { transactionHash: hash, invoiceId, transferId, amount } = payment;
    taken.set(transferId, (taken.get(transferId) ?? 0n) + amount);
    expect(payment.status === "confirmed", () => `${payment.id} never got its confirmations`);
    expect(rowOf.has(transferId), () => `${payment.id} counts a transfer that left the chain`);
    const meant = deeds.payments.get(hash)?.meant;
    const isGiven = deeds.given.get(hash)?.has(invoiceId) === true;
    // Money that arrives after its invoice's hold ended may match the amount of another invoice by then.
    const asked = rows.find(({ id }) => id === meant);
    const isOver = asked !== undefined && payment.blockTime > holdEnd(asked);
    expect(
      meant === invoiceId ||
        isGiven ||
        isOver ||
        mayPayRounded(hash, invoiceId) ||
        isSubmittedForOnly(hash, invoiceId) ||
        mayBeNear(payment),
      () => `${invoiceId} was credited ${hash}, which was not for it`,
    );
  }
  for (const [id, sum] of taken) {
    const row = rowOf.get(id);
    expect(row === undefined || sum <= row.amount, () => `${id} counts for more than it is`);
  }

  for (const row of rows) {
    const own = counted.filter(({ invoiceId }) => invoiceId === row.id);
    const share = shareOf(row, own);
    const sum = tokensOf(row, share);
    expect(row.seenAmount === sum && row.confirmedAmount === sum, () => {
      return `${row.id} says ${String(row.seenAmount)} seen and ${String(row.confirmedAmount)} confirmed of ${String(sum)}`;
    });
    const worth = total(own.map((one) => ({ amount: one.settlementAmount })));
    const paid = row.paidAmount ?? worth;
    expect(worth === worthOf(row, share) && paid === worth, () => {
      return `the payments of ${row.id} are worth ${String(worth)} in all, and it says ${String(paid)}`;
    });
    for (const [place, { id, roundingAmount }] of own.entries()) {
      // The payment that completes the amount keeps what was missing then, also if another one follows.
      const before = shareOf(row, own.slice(0, place));
      const after = shareOf(row, own.slice(0, place + 1));
      const isMade = isRounded(row, after) && !isRounded(row, before);
      const missing = (row.payableAmount ?? 0n) - total(own.slice(0, place + 1));
      const isSame = !isMade || heldIn(row).length > 1 || roundingAmount === missing;
      expect(roundingAmount > 0n === isMade && isSame, () => {
        return `${id} of ${row.id} says that ${String(roundingAmount)} was rounded of ${String(missing)}`;
      });
    }
    const status = statusOf(row, share, tip);
    expect(row.status === status, () => `${row.id} is ${row.status} and must be ${status}`);
    if (row.status === "paid" && row.exception === "late") {
      const isLate = own.some(({ transferId, transactionHash }) => {
        const log = logOf(logs, rowOf.get(transferId));
        const isAfter = log === null || (log.blockTime ?? 0) > (row.expiresAt ?? 0);
        return isAfter || deeds.mistimed.has(transactionHash);
      });
      expect(
        isLate || row.canceledAt !== null,
        () => `${row.id} was paid in time and is called late`,
      );
    }
    const untouched = !deeds.decided.has(row.id);
    if (untouched && !isGivenAgain(row) && (row.canceledAt === null || row.managedBy !== null)) {
      for (const fault of missing(row, own, share)) faults.push(fault);
    }
    for (const fault of holdFaults(row)) faults.push(fault);
    for (const { id, network, address, isNewAddress } of held.filter(
      ({ invoiceId }) => invoiceId === row.id,
    )) {
      const isHeldBefore = held.some(
        (other) =>
          other.invoiceId !== row.id &&
          other.network === network &&
          other.address === address &&
          other.id < id,
      );
      expect(!isNewAddress || !isHeldBefore, () => `${row.id} has an address that was not new`);
    }
    const asked = deeds.parts.get(row.id);
    const isAsAsked = own.every(({ transactionHash: hash }) => asked?.has(hash) === true);
    expect(row.exception !== "overpaid" || !isAsAsked, () => {
      return `${row.id} was paid what it asked for, and is called overpaid`;
    });
    const [inForce] = heldIn(row).filter(({ isInForce }) => isInForce);
    const least = (row.payableAmount ?? 0n) + (inForce?.dust ?? 0n);
    expect(row.exception !== "overpaid" || sum >= least, () => {
      return `${row.id} got less than dust too much, and is called overpaid`;
    });
  }

  /** Names the payments that an invoice must have been credited with and was not, unless a person decided otherwise. */
  function missing(row: Invoice, own: readonly Counted[], share: Share): string[] {
    const mine = logs.filter(
      (log) =>
        isMoney(log) &&
        isMeantInTime(row, log) &&
        !deeds.givenUp.has(log.blockHash) &&
        !deeds.mistimed.has(log.transactionHash) &&
        !deeds.ownMoney.has(log.transactionHash),
    );
    const held = heldIn(row);
    if (held.some(({ isOwn }) => isOwn)) {
      return held
        .filter(({ isOwn }) => isOwn)
        .flatMap(({ symbol, address }) => {
          const contract = contracts.get(symbol)?.contract;
          const to = parseAddress(address);
          const sent = mine.filter(
            (log) =>
              log.contract === contract &&
              to.ok &&
              log.to === to.address &&
              !mayBeUnordered(row, log) &&
              (isToldBy(row, log) || !isReused(row, log)),
          );
          const must = total(sent);
          const sum = total(own.filter(({ token }) => token === symbol));
          return sum >= must ? [] : [`${row.id} was sent ${String(must)} and has ${String(sum)}`];
        });
    }
    const asTold = mine.filter((log) => {
      const payment = deeds.payments.get(log.transactionHash);
      const isOwn = payment?.meant === row.id && payment.isAsTold;
      const mayBeForOther =
        mayBeOfFormer(row, log) ||
        mayBeOfUpper(row, log) ||
        mayBeRoundedUp(row, log) ||
        mayBeUnordered(row, log) ||
        isOnly(row, log);
      return isOwn && !mayBeForOther && !mayWait(row, log);
    });
    const credited = new Set(
      counted.filter(({ invoiceId }) => invoiceId === row.id).map((one) => one.transactionHash),
    );
    const isCredited =
      asTold.length === 0 || asTold.some((log) => credited.has(log.transactionHash));
    // If it was paid several times, a reorganization may have put any of the payments first.
    const isPaid = statusOf(row, share, tip) === "paid";
    return isCredited || isPaid ? [] : [`${row.id} was paid as it asked, and has not got it`];
  }

  /** Amounts are held until money cannot be meant for their invoice any more. */
  function holdFaults(row: Invoice): string[] {
    const end = holdEnd(row);
    const own = held.filter(({ invoiceId }) => invoiceId === row.id);
    const live = own.filter(({ releasedAt }) => releasedAt === null);
    if (end > tip) {
      const isDead = row.status === "canceled" || row.status === "expired";
      // A person may give money to an invoice after its amount was recycled.
      const isEmpty = (isDead && row.seenAmount === 0n) || deeds.decided.has(row.id);
      const isEnded = isEmpty && isGivenAgain(row);
      return live.length > 0 || isEnded ? [] : [`the hold of ${row.id} was released too early`];
    }
    return end + slackMs < tip && live.length > 0 ? [`the hold of ${row.id} was not released`] : [];
  }

  /** True if the amount was recycled because its price ran out: a person then decides about late money. */
  function isGivenAgain({ id }: Invoice): boolean {
    return held.some(({ invoiceId, recycledAt }) => invoiceId === id && recycledAt !== null);
  }

  function isToldBy({ id }: Invoice, { transactionHash }: TransferLog): boolean {
    const payment = deeds.payments.get(transactionHash);
    return payment?.meant === id && payment.isAsTold;
  }

  /** True if the address was recycled from an invoice that may still be paid late: a person decides about other amounts. */
  function isReused({ id }: Invoice, { to, blockTime }: TransferLog): boolean {
    return held.some(
      ({ invoiceId, kind, address, recycledAt, endsAt }) =>
        invoiceId !== id &&
        kind === "exclusive" &&
        recycledAt !== null &&
        address === to &&
        endsAt >= (blockTime ?? 0),
    );
  }

  /** True if the amount was recycled from an invoice that may still be paid late, so that a person decides. */
  function mayBeOfFormer(row: Invoice, { to, amount, blockTime, contract }: TransferLog): boolean {
    return held.some(
      (hold) =>
        hold.invoiceId !== row.id &&
        hold.recycledAt !== null &&
        hold.amount === amount &&
        hold.address === to &&
        contracts.get(hold.token)?.contract === contract &&
        hold.endsAt >= (blockTime ?? 0),
    );
  }

  /** True if another invoice holds the amount, and it is so small that none with a surcharge was left for this one. */
  function isOnly(row: Invoice, { amount, to, contract }: TransferLog): boolean {
    return held.some((hold) => {
      const decimals = decimalsOf(hold.token);
      const isSame = contracts.get(hold.token)?.contract === contract && hold.address === to;
      const isTaken = isSame && hold.invoiceId !== row.id && hold.amount === amount;
      return isTaken && reachOf(amount, decimals) < stepOf(decimals);
    });
  }

  /** True if a payer without a credential entered the price, and its amount may be no evidence. */
  function mayWait({ id }: Invoice, { amount }: TransferLog): boolean {
    const own = held.filter((hold) => hold.invoiceId === id && hold.amount === amount);
    return deeds.entered.has(id) && own.every((hold) => waitsFor({ deeds }, ledger, hold) !== "no");
  }

  /**
   * True if both this invoice and one of a little more have bare prices: no surcharge fits this one, or one of them was paid
   * when the other was issued, and a reorganization took its payment away.
   */
  function mayBeOfUpper(row: Invoice, { amount, to, contract }: TransferLog): boolean {
    const wasPaid = (id: string) => assigned.some(({ invoiceId }) => invoiceId === id);
    return held.some((upper) => {
      const { invoiceId, address, token, price } = upper;
      if (invoiceId === row.id || address !== to || upper.amount !== price) return false;
      const isKept = upper.amount > amount && mayBeKept(amount, price, decimalsOf(token));
      const isSame = contracts.get(token)?.contract === contract;
      const decimals = decimalsOf(token);
      const isSingle = reachOf(amount, decimals) < stepOf(decimals);
      const isWithheld = isSingle || wasPaid(row.id) || wasPaid(invoiceId);
      return isSame && isKept && (isWithheld || wasCanceledBefore(invoiceId, row));
    });
  }

  /**
   * True if an invoice that the merchant priced asked for less than 0.01 less when the transfer was recorded, and was not
   * paid, so that its payer may have rounded up: then the money is credited to nobody and waits for a person.
   */
  function mayBeRoundedUp(row: Invoice, log: TransferLog): boolean {
    const { amount, to, contract, transactionHash: hash } = log;
    const recorded = known.find((one) => one.transactionHash === hash);
    if (recorded === undefined || counted.some((one) => one.transactionHash === hash)) return false;
    return held.some((hold) => {
      const { invoiceId, address, token, amount: lower, startsAt, endsAt, releasedAt } = hold;
      const isSame = contracts.get(token)?.contract === contract && address === to;
      if (!isSame || invoiceId === row.id || deeds.entered.has(invoiceId)) return false;
      const hundredth = dustOf(decimalsOf(token));
      const isRound = amount % hundredth === 0n;
      if (!isRound || lower >= amount || lower <= amount - hundredth) return false;
      const { createdAt, blockTime } = recorded;
      const isReleased = releasedAt !== null && releasedAt <= createdAt;
      if (startsAt > createdAt || endsAt < blockTime || isReleased) return false;
      // A payment that was recorded at the same time came too late.
      return isUnpaidAt(ledger, invoiceId, createdAt - 1);
    });
  }

  /** True if an invoice was canceled when another was issued: it prevents no bare price, and its payer may still pay. */
  function wasCanceledBefore(invoiceId: string, { issuedAt }: Invoice): boolean {
    const canceledAt = rows.find(({ id }) => id === invoiceId)?.canceledAt ?? null;
    return canceledAt !== null && issuedAt !== null && canceledAt <= issuedAt;
  }

  /**
   * True if a payer rounded to the amount of an invoice that is not paid yet where the transfer is on the chain: a
   * reorganization may have put it before the payment that was made first, and money of another amount waits for a
   * person. A payment that the only provider hid was not known when the next one came.
   */
  function mayPayRounded(hash: string, invoiceId: string): boolean {
    if (deeds.rounded.get(hash)?.has(invoiceId) !== true) return false;
    const row = rows.find(({ id }) => id === invoiceId);
    const earlier = hashes.slice(0, hashes.indexOf(hash));
    const before = new Set(earlier.filter((each) => !deeds.hidden.has(each)));
    const paid = counted.filter((one) => {
      return one.invoiceId === invoiceId && before.has(one.transactionHash);
    });
    if (row === undefined) return false;
    const [paidPart, all] = shareOf(row, paid);
    return paidPart < all;
  }

  /** True if somebody claimed the money for an invoice that asks for exactly this, a price too small for a surcharge. */
  function isSubmittedForOnly(hash: string, invoiceId: string): boolean {
    const row = rows.find(({ id }) => id === invoiceId);
    const asked = row?.payableAmount ?? null;
    if (row === undefined || asked === null) return false;
    const isOnlyAmount = reachOf(asked, row.tokenDecimals) < stepOf(row.tokenDecimals);
    const isClaim = claims.some(
      (one) => one.invoiceId === invoiceId && one.transactionHash === hash,
    );
    return isOnlyAmount && isClaim;
  }

  /**
   * True if a payer sent another amount than the page showed, and an invoice for about as much was issued just after it,
   * before anything was read of it, or two providers agreed on its time.
   */
  function mayBeNear({ transactionHash, invoiceId, transferId }: PaymentRow): boolean {
    const row = rows.find(({ id }) => id === invoiceId);
    const minedAt = chain.minedAt(transactionHash);
    if (row?.issuedAt == null || deeds.payments.get(transactionHash)?.isAsTold !== false)
      return false;
    const { issuedAt } = row;
    const isNear = issuedAt - minedAt < unreadMs || deeds.undated.has(transactionHash);
    return minedAt < issuedAt && isNear && !wasReadBefore(row, transferId);
  }

  /** True if a transfer was on record before an invoice, or is in a block that was read before it and never replaced. */
  function wasReadBefore({ id, issuedAt }: Invoice, transferId: Id<"transfer">): boolean {
    const transfer = rowOf.get(transferId);
    if (transfer === undefined) return false;
    const mark = held.find(({ invoiceId }) => invoiceId === id);
    const { markHeight, markHash } = mark ?? { markHeight: null, markHash: null };
    const isBelow =
      markHeight !== null &&
      transfer.blockHeight <= markHeight &&
      chain.blocks[markHeight]?.hash === markHash;
    return isBelow || transfer.createdAt < (issuedAt ?? 0);
  }

  /**
   * True if nothing proves whether a transfer or its invoice came first, so that a person decides: the block has a time
   * before the invoice, and nothing new was read just before that, or the chain has replaced it. At an address that no
   * invoice had before, it is the invoice's.
   */
  function mayBeUnordered({ id }: Invoice, { blockTime }: TransferLog): boolean {
    const first = held.find(({ invoiceId }) => invoiceId === id);
    if (first === undefined || first.isNewAddress) return false;
    const { startsAt, markHeight, markHash, markReadAt } = first;
    // A further option is held later, and has the mark of the first.
    const own = held.filter(({ invoiceId }) => invoiceId === id);
    const heldAt = Math.max(...own.map((hold) => hold.startsAt));
    if ((blockTime ?? 0) >= heldAt - minute) return false;
    const block = chain.blocks[markHeight ?? -1];
    const isRead = markReadAt !== null && startsAt - markReadAt <= readMs;
    return !isRead || block?.hash !== markHash || startsAt - block.minedAt > newMs;
  }

  /** The transfer went to an invoice's address after the invoice was issued, while its money was waited for. */
  function isMeantInTime(row: Invoice, log: TransferLog): boolean {
    const isAfter = chain.minedAt(log.transactionHash) >= (row.issuedAt ?? 0);
    const isWaitedFor = (log.blockTime ?? 0) + slackMs <= holdEnd(row);
    return isAfter && isWaitedFor && isAtAddressOf(row, log);
  }

  function isMoney({ contract, amount, from, to }: TransferLog): boolean {
    const token = stage.network.tokens.find((each) => each.contract === contract);
    return token !== undefined && amount > 0n && amount >= token.dust && from !== to;
  }

  /** Hashes that no provider knows are given up after a day, and after three if nobody could look for them. */
  for (const claim of claims.filter(({ state }) => state === "waiting")) {
    const givenUpMs = claim.reason === "unknown" ? day : 3 * day;
    const isNew = claim.createdAt > tip - givenUpMs - slackMs;
    expect(isNew || logs.some((log) => log.transactionHash === claim.transactionHash), () => {
      return `the hash ${claim.transactionHash} is still looked for`;
    });
  }

  // Money goes back by a transaction of its own that pays the whole refund.
  const proofs = new Set<string>();
  for (const refund of await db.find(refunds, "WHERE transaction_hash IS NOT NULL")) {
    const { id, status, transactionHash: hash, token, address, amount } = refund;
    const contract = contracts.get(token)?.contract;
    const own = logs.filter((log) => log.transactionHash === hash);
    const paid = total(own.filter((log) => log.contract === contract && log.to === address));
    const isForeign = own.some(({ from }) => from === "e".repeat(40));
    expect(!proofs.has(hash ?? ""), () => `${hash ?? ""} proves two refunds`);
    proofs.add(hash ?? "");
    if (status === "sent") expect(own.length === 0, () => `${id} is sent and never confirmed`);
    else expect(paid >= amount && !isForeign, () => `${id} is confirmed without its money`);
  }
  faults.push(
    ...(await billingFaults({ db }, stage, rows)),
    ...priceFaults({ deeds, chain }, ledger),
    ...enteredFaults({ deeds }, ledger),
    ...askFaults(rows),
    ...(await timeFaults({ db, deeds, chain }, rows, held)),
  );
  return faults;
}

function placeOf(log: TransferIdentity & Pick<TransferLog, "blockHash">): string {
  return `${transferKey(log)} ${log.blockHash}`;
}

function logOf(logs: readonly TransferLog[], row: TransferRow | undefined): TransferLog | null {
  return logs.find((log) => row !== undefined && isSameTransfer(row, log)) ?? null;
}

/** The transfer went to one of an invoice's addresses. */
function isAtAddressOf(row: Invoice, log: TransferLog): boolean {
  return heldIn(row).some(({ address }) => {
    const parsed = parseAddress(address);
    return parsed.ok && parsed.address === log.to;
  });
}
