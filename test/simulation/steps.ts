import { day, hour, minute, second } from "../../src/kernel/clock.ts";

/** A source of chance that a seed determines. */
export interface Chance {
  /** From 0 up to 1. */
  next(): number;
  below(count: number): number;
  pick<T>(items: readonly T[]): T;
  bytes(length: number): Uint8Array;
}

/** Mulberry32: small, and good enough to choose by. */
export function chanceOf(seed: number): Chance {
  let state = (seed * 0x9e3779b1 + 0x85ebca6b) >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    pick<T>(items: readonly T[]): T {
      return items[below(items.length)] as T;
    },
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  };
}

/** How a payer pays an invoice. */
export const payments = [
  "exact",
  "exact",
  /** From a wallet that takes 6 decimals, or 8. */
  "six",
  "eight",
  /** From a wallet that takes 2 decimals. */
  ...(["two_down", "two_up", "two_nearest"] as const),
  /** Through an exchange that keeps a part. */
  ...(["fee_one", "fee_half", "fee_percent"] as const),
  /** From a wallet of the merchant's own. */
  "own_wallet",
  /** The price without what tells it from others. */
  "rounded",
  "rounded",
  "part",
  "over",
  "double",
  "split",
  "other_token",
  "fake_token",
  "dust",
  "nothing",
  "to_itself",
] as const;

/** The behavior of a provider until another step, or the end of the history, makes it honest. */
export const lies = [
  "dead",
  "future",
  "past",
  "empty",
  "index_lag",
  "index_lag_long",
  "behind",
  "newest_is_final",
  "garbled",
  "honest",
] as const;
export type Lie = (typeof lies)[number];

/** The deeds of payers and merchants about a refund; the last four name a transaction that is right, or wrong in a way. */
export const refundDeeds = [
  ...(["ask", "ask", "ask", "create", "reject"] as const),
  ...(["send", "send", "send", "send_less", "send_foreign", "send_nothing"] as const),
] as const;

/** The blocks whose times a provider shifts: from its newest on, those below its final one, or those of its logs alone. */
const shiftedBlocks = ["newest", "newest", "old", "logs"] as const;
export type ShiftedBlocks = (typeof shiftedBlocks)[number];

/** A moment of an invoice: just after its issue, at its deadline, or when its hold ends. */
const moments = ["issue", "issue", "deadline", "end"] as const;

const roundings = ["rounded", "two_down", "two_up", "two_nearest"] as const;
const aimers = ["order", "enter", "enter", "open_priced"] as const;
const fees = ["fee_one", "fee_half", "fee_percent"] as const;
/** A part of the token's dust, just the dust, a little more, or an amount with more decimals than wallets take. */
const rests = ["under_dust", "dust", "over_dust", "odd", "fine"] as const;
const tokens = ["USDT", "USDT", "WIDE", "CENT"] as const;
type Token = (typeof tokens)[number];

/** Before the invoice, the payment is read, read and moved later, or not read, because nobody reads or providers stand still. */
const earlier = ["read", "read", "moved", "unread", "unshown"] as const;

const crashes = ["before", "inside", "after"] as const;
const prices = ["10.00", "10.00", "10.05", "3.00", "25.00", "0.50"] as const;

/** One thing that happens. Numbers name the invoices, transfers and organizations that are there by then, modulo. */
export type Step =
  | {
      readonly kind: "create";
      readonly organization: number;
      readonly wallet: "shared" | "own" | "any";
      readonly token: Token;
      /** Other tokens that the payer may choose. */
      readonly others: readonly (Token | "USDC")[];
      readonly price: string;
      readonly currency: "USD" | "EUR";
      readonly tolerance: string;
      readonly lifeMs: number;
      readonly draft: boolean;
    }
  /** Another customer orders what an invoice was for. */
  | { readonly kind: "again"; readonly invoice: number }
  /** Many at once. */
  | { readonly kind: "burst"; readonly organization: number; readonly count: number }
  /** Closes a price: invoices until one is refused, then those are canceled or left. */
  | { readonly kind: "flood"; readonly cancels: boolean }
  | { readonly kind: "cancel"; readonly invoice: number }
  /** `hold` is the place of one of the options that the payer has chosen before. */
  | {
      readonly kind: "pay";
      readonly invoice: number;
      readonly how: (typeof payments)[number];
      readonly hold: number;
    }
  | { readonly kind: "choose"; readonly invoice: number; readonly option: number }
  | { readonly kind: "mine"; readonly blocks: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "look" }
  | { readonly kind: "lie"; readonly provider: number; readonly lie: Lie; readonly amount: number }
  /** A provider lies about times at a moment of an invoice that somebody may be paying. */
  | {
      readonly kind: "deceive";
      readonly provider: number;
      readonly blocks: ShiftedBlocks;
      readonly shiftMs: number;
      readonly moment: (typeof moments)[number];
      /** From the moment to the lie. */
      readonly offsetMs: number;
      /** How long nothing is read before the lie. */
      readonly silenceMs: number;
      /** The other providers do not answer. */
      readonly isAlone: boolean;
      readonly pays: boolean;
      /** Whether the lie lasts until the blocks are final. */
      readonly lasts: boolean;
    }
  /** Two customers order at prices that are near each other, and the second rounds to the price of the first. */
  | {
      readonly kind: "regulars";
      readonly price: string;
      readonly secondPrice: string;
      readonly token: Token;
      /** Whether the first has paid by then. */
      readonly isFirstPaid: boolean;
      /** Whether the first order is canceled, and its hold over, before the second. */
      readonly isFirstOver: boolean;
      readonly rounds: (typeof roundings)[number];
      /** Whether the payer submits the hash too. */
      readonly submits: boolean;
    }
  /**
   * A payer pays through an exchange that keeps a fee, and others order, or enter at a link, just what it delivers, or open
   * a link with that price of the merchant's: before or after him.
   */
  | {
      readonly kind: "aim";
      readonly price: string;
      readonly token: Token;
      readonly fee: (typeof fees)[number];
      readonly others: (typeof aimers)[number];
      readonly isBefore: boolean;
      readonly count: number;
      readonly tolerance: string;
      /** Whether one of the others pays what he is asked for. */
      readonly pays: boolean;
    }
  /**
   * A household starts payments at a link, changes options and submits made-up hashes; honest payers come to the same link
   * before and after it, and pay.
   */
  | {
      readonly kind: "household";
      readonly price: string;
      readonly isPriced: boolean;
      readonly wallet: "shared" | "own";
      readonly count: number;
      readonly changes: number;
      readonly hashes: number;
      /** From the household's payments to the honest payer's. */
      readonly waitMs: number;
      readonly how: (typeof payments)[number];
    }
  /** A payer sends a part that leaves so much, the merchant allocates it, and the payer sends what is asked for then. */
  | {
      readonly kind: "parts";
      readonly price: string;
      readonly token: Token;
      readonly leaves: (typeof rests)[number];
    }
  /** Somebody pays just what an invoice asks for that is issued only afterwards. */
  | {
      readonly kind: "earlier";
      readonly price: string;
      readonly how: (typeof earlier)[number];
      /** Whether the address was watched by then. */
      readonly isWatched: boolean;
    }
  /** All providers but one write amounts that nobody can read, when an invoice is paid or just afterwards. */
  | {
      readonly kind: "garble";
      readonly price: string;
      /** The provider whose logs can be read. */
      readonly readable: number;
      /** Whether the payment was read before. */
      readonly isRead: boolean;
    }
  | { readonly kind: "reorganize"; readonly depth: number; readonly returning: number }
  /** An invoice is paid while Till is down, and providers have pruned the logs of that time when it is back. */
  | {
      readonly kind: "prune";
      readonly invoice: number;
      /** Whether the payment was read before, in a block that another one replaced during the downtime. */
      readonly isReplaced: boolean;
      readonly blocks: number;
      readonly who: "all" | "one";
      /** Whether one of the providers has the logs again before an operator gives them up. */
      readonly comesBack: boolean;
      readonly isGivenUp: boolean;
      /** Whether all of them have the logs again afterwards, and not only at the end. */
      readonly isSeenAgain: boolean;
    }
  | { readonly kind: "crash"; readonly after: number; readonly where: (typeof crashes)[number] }
  | {
      readonly kind: "submit";
      readonly invoice: number;
      readonly what: "own" | "another" | "junk";
      readonly transfer: number;
    }
  | {
      readonly kind: "decide";
      readonly what: "allocate" | "ignore" | "accept" | "reject" | "reverse" | "move";
      readonly item: number;
      readonly invoice: number;
    }
  | {
      readonly kind: "refund";
      readonly what: (typeof refundDeeds)[number];
      readonly item: number;
    }
  | {
      readonly kind: "bill";
      readonly what: "select" | "pay" | "cancel" | "cancel_later" | "credit" | "month" | "trial";
      /** How much of a bill is paid, in percent. */
      readonly share: number;
      /** Whether the payment of a trial is confirmed before the trial ends. */
      readonly confirmed: boolean;
      readonly organization: number;
    };

type Deceit = Pick<
  Extract<Step, { kind: "deceive" }>,
  "blocks" | "shiftMs" | "moment" | "offsetMs" | "silenceMs"
>;

/** Lies about times that come near to a limit of what is believed, and any others. */
const deceits: readonly ((chance: Chance) => Deceit)[] = [
  /** A time that expires invoices, or ends their holds. */
  (chance) => lieAtIssue("newest", chance.pick([50 * minute, day, 10 * day])),
  (chance) => lieAtIssue("newest", chance.pick([50 * minute, day, 10 * day])),
  /** A time before the invoice was issued. */
  (chance) => lieAtIssue("newest", chance.pick([-2, -2, -5]) * minute),
  (chance) => lieAtIssue("newest", chance.pick([-2, -2, -5]) * minute),
  (chance) => lieAtIssue("logs", chance.pick([-2, -5, -60, 20]) * minute, 8 * minute),
  (chance) => lieAtIssue("newest", chance.pick([-2, -5]) * minute, 8 * minute),
  /** A time that makes a payment late. */
  () => ({ ...lieAtIssue("newest", 5 * minute), moment: "deadline", offsetMs: -3 * minute }),
  /** Times that end a hold too early. */
  () => ({ ...lieAtIssue("old", 50 * minute), moment: "end", offsetMs: 40 * minute }),
  (chance) => ({
    blocks: chance.pick(shiftedBlocks),
    shiftMs: chance.pick([-20 * minute, -9 * day, 5 * minute, 20 * minute]),
    moment: chance.pick(moments),
    offsetMs: chance.pick([-3 * minute, 0, 15 * minute, 40 * minute]),
    silenceMs: chance.pick([0, 0, 8 * minute]),
  }),
];

function lieAtIssue(blocks: ShiftedBlocks, shiftMs: number, silenceMs = 0): Deceit {
  return { blocks, shiftMs, silenceMs, moment: "issue", offsetMs: 0 };
}

const makers: readonly [weight: number, make: (chance: Chance) => Step][] = [
  [
    7,
    (chance) => ({
      kind: "create",
      organization: chance.pick([0, 0, 0, 1, 2]),
      wallet: chance.pick(["shared", "shared", "shared", "own", "any"] as const),
      token: chance.pick(tokens),
      others: chance.pick([[], [], ["USDC"], ["CENT", "USDC"], ["WIDE", "CENT"]] as const),
      price: chance.pick(prices),
      currency: chance.pick(["USD", "USD", "USD", "EUR"] as const),
      tolerance: chance.pick(["0", "0", "0.5", "2"]),
      lifeMs: chance.pick([5 * minute, hour, hour, day]),
      draft: chance.below(8) === 0,
    }),
  ],
  [
    1,
    (chance) => ({
      kind: "burst",
      organization: chance.pick([1, 1, 0]),
      count: chance.pick([2, 4, 6]),
    }),
  ],
  [2, (chance) => ({ kind: "again", invoice: chance.below(3) })],
  [0.3, (chance) => ({ kind: "flood", cancels: chance.below(2) === 0 })],
  [1, (chance) => ({ kind: "cancel", invoice: chance.below(20) })],
  [
    9,
    (chance) => ({
      kind: "pay",
      invoice: chance.below(20),
      how: chance.pick(payments),
      hold: chance.pick([0, 0, 1, 2]),
    }),
  ],
  [3, (chance) => ({ kind: "choose", invoice: chance.below(20), option: chance.below(3) })],
  [4, (chance) => ({ kind: "mine", blocks: chance.pick([1, 1, 2, 4, 8, 20]) })],
  [
    4,
    (chance) => ({
      kind: "wait",
      ms: chance.pick([
        ...[10 * second, minute, 3 * minute, 3 * minute, 20 * minute, 70 * minute],
        ...[day, 8 * day],
      ]),
    }),
  ],
  [5, () => ({ kind: "look" })],
  [
    4,
    (chance) => ({
      kind: "lie",
      provider: chance.below(3),
      lie: chance.pick(lies),
      amount: chance.pick([1, 2, 3, 9]),
    }),
  ],
  [
    1.5,
    (chance) => ({
      kind: "deceive",
      provider: chance.pick([0, 0, 1]),
      ...chance.pick(deceits)(chance),
      isAlone: chance.below(2) === 0,
      pays: chance.below(5) > 0,
      lasts: chance.below(4) > 0,
    }),
  ],
  [
    1,
    (chance) => {
      const price = 20 + chance.below(60);
      return {
        kind: "regulars",
        price: `${String(price)}.00`,
        secondPrice: `${String(price)}.${chance.pick(["00", "00", "05", "10"])}`,
        token: chance.pick(tokens),
        isFirstPaid: chance.below(3) > 0,
        isFirstOver: chance.below(4) === 0,
        rounds: chance.pick(roundings),
        submits: chance.below(2) === 0,
      };
    },
  ],
  [
    1.5,
    (chance) => ({
      kind: "aim",
      price: chance.pick(["25.00", "25.00", "49.99", "10.00", "1.04", "0.55"]),
      token: chance.pick(tokens),
      fee: chance.pick(fees),
      others: chance.pick(aimers),
      isBefore: chance.below(2) === 0,
      count: chance.pick([1, 2, 4, 12]),
      tolerance: chance.pick(["0", "0", "2"]),
      pays: chance.below(2) === 0,
    }),
  ],
  [
    0.7,
    (chance) => ({
      kind: "household",
      price: chance.pick(["25.00", "33.00", "7.50"]),
      isPriced: chance.below(2) === 0,
      wallet: chance.pick(["own", "own", "shared"] as const),
      count: chance.pick([3, 12, 30, 60]),
      changes: chance.pick([0, 3, 9]),
      hashes: chance.pick([0, 2, 8]),
      waitMs: chance.pick([0, 0, 90 * minute, day, 9 * day]),
      how: chance.pick(["exact", "exact", "exact", "part", "over", "split"] as const),
    }),
  ],
  [
    1,
    (chance) => ({
      kind: "parts",
      price: chance.pick(["25.00", "77.77", "5.50", "0.99", "0.50", "0.02"]),
      token: chance.pick(tokens),
      leaves: chance.pick(rests),
    }),
  ],
  [
    1,
    (chance) => ({
      kind: "earlier",
      price: `${String(100 + chance.below(800))}.00`,
      how: chance.pick(earlier),
      isWatched: chance.below(2) === 0,
    }),
  ],
  [
    0.7,
    (chance) => ({
      kind: "garble",
      price: `${String(100 + chance.below(800))}.00`,
      readable: chance.below(3),
      isRead: chance.below(2) === 0,
    }),
  ],
  [2, (chance) => ({ kind: "reorganize", depth: 1 + chance.below(5), returning: chance.below(4) })],
  [
    1,
    (chance) => ({
      kind: "reorganize",
      depth: chance.pick([8, 15, 28]),
      returning: chance.below(4),
    }),
  ],
  [
    0.7,
    (chance) => ({
      kind: "prune",
      invoice: chance.below(3),
      isReplaced: chance.below(2) === 0,
      blocks: chance.pick([2, 7, 40]),
      who: chance.pick(["all", "all", "one"] as const),
      comesBack: chance.below(3) === 0,
      isGivenUp: chance.below(2) === 0,
      isSeenAgain: chance.below(2) === 0,
    }),
  ],
  [1.5, (chance) => ({ kind: "crash", after: chance.below(4), where: chance.pick(crashes) })],
  [
    1.5,
    (chance) => ({
      kind: "submit",
      invoice: chance.below(20),
      what: chance.pick(["own", "own", "another", "junk"] as const),
      transfer: chance.below(20),
    }),
  ],
  [
    1.5,
    (chance) => ({
      kind: "decide",
      what: chance.pick([
        "allocate",
        "allocate",
        "ignore",
        "accept",
        "accept",
        "reject",
        "reverse",
        "move",
        "move",
      ]),
      item: chance.below(20),
      invoice: chance.below(20),
    }),
  ],
  [2.5, (chance) => ({ kind: "refund", what: chance.pick(refundDeeds), item: chance.below(20) })],
  [
    4,
    (chance) => ({
      kind: "bill",
      what: chance.pick([
        ...(["select", "select", "pay", "pay", "pay", "cancel", "cancel"] as const),
        ...(["cancel_later", "credit", "month", "trial", "trial"] as const),
      ]),
      share: chance.pick([100, 100, 60, 40, 110]),
      confirmed: chance.below(4) > 0,
      organization: chance.pick([2, 2, 2, 3]),
    }),
  ],
];

/** A history: the same for the same seed. */
export function stepsOf(seed: number, count: number): Step[] {
  const chance = chanceOf(seed);
  const total = makers.reduce((sum, [weight]) => sum + weight, 0);
  return Array.from({ length: count }, () => {
    let at = chance.next() * total;
    const found = makers.find(([weight]) => (at -= weight) < 0) ?? makers[0];
    if (found === undefined) throw new Error("there are no steps");
    return found[1](chance);
  });
}
