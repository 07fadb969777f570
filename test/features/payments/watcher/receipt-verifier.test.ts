// Unit tests of the verifier: which opinions of providers confirm a payment, hold it, or make it wait, and for how long.
import { expect } from "chai";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import {
  isStillThere,
  makeVerifier,
  type Verifiable,
} from "../../../../src/features/payments/watcher/receipt-verifier.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { ChainClient, Receipt } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { createAlarms, restSubject } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";

const blockHeight = 10;
const confirmsAtHeight = 12;

const transfer = {
  network: "ethereum",
  transactionHash: "aa",
  blockHeight,
  blockHash: "b10",
  logIndex: 3,
  ordinal: 0,
  contract: "usdt",
  fromAddress: "payer",
  toAddress: "shop",
  amount: 25n,
} as TransferRow;
const log = {
  transactionHash: "aa",
  logIndex: 3,
  ordinal: 0,
  contract: "usdt",
  from: "payer",
  to: "shop",
  amount: 25n,
};
const receiptWith = (changes: Partial<Receipt> = {}, logChanges: object = {}) =>
  ({
    succeeded: true,
    blockHash: "b10",
    transfers: [{ ...log, ...logChanges }],
    ...changes,
  }) as Receipt;
const payment = (id = "pay_1"): Verifiable => ({ id, transfer, confirmsAtHeight });

interface View {
  receipt: Receipt | null;
  tipHeight: number;
  /** The age of the tip, in milliseconds. */
  tipAge: number;
  failure: Error | null;
  receipts: number;
  tips: number;
}

/** Providers whose answers a test sets, and their verifier. */
function open(...given: readonly Partial<View>[]) {
  let now = 10 * hour;
  const clock = { now: () => now };
  const alarms = createAlarms({ clock, logger: silentLogger });
  const views = given.map((view): View => ({
    receipt: receiptWith(),
    tipHeight: confirmsAtHeight,
    tipAge: 0,
    failure: null,
    receipts: 0,
    tips: 0,
    ...view,
  }));
  const providers = views.map((view, place) => {
    const fail = () => {
      if (view.failure !== null) throw view.failure;
    };
    const client: Partial<ChainClient> = {
      provider: `http://${String(place)}`,
      async receipt() {
        await Promise.resolve();
        view.receipts += 1;
        fail();
        return view.receipt;
      },
      async heads() {
        await Promise.resolve();
        view.tips += 1;
        fail();
        const latest = { height: view.tipHeight, hash: "tip", time: now - view.tipAge };
        return { latest, finalized: latest, known: null };
      },
    };
    return client as ChainClient;
  });
  const unusable = new Map<string, number>();
  const readmitted = { at: 0 };
  const pool = {
    unusableSince: (provider: string) => unusable.get(provider) ?? null,
    readmittedAt: () => readmitted.at,
  };
  const make = () =>
    makeVerifier({ subject: "payment", providers, clock, logger: silentLogger, alarms, pool });
  let verifier = make();
  return {
    alarms,
    unusable,
    readmitted,
    view: (place: number): View => views[place] ?? expect.fail("no such provider"),
    advance: (milliseconds: number) => (now += milliseconds),
    verifier: () => verifier,
    restart: () => (verifier = make()),
    verify: async (...candidates: readonly Verifiable[]) => [
      ...(await verifier.verify(candidates.length === 0 ? [payment()] : candidates)),
    ],
    now: () => now,
  };
}

const away = new ProviderError("it is away", { kind: "unreachable", provider: "http://1" });
const verified = ["pay_1"];

describe("A payment's receipt", () => {
  it("must be at the one configured provider, as scanned, and with all confirmations", async () => {
    expect(await open({}).verify()).to.deep.equal(verified);
    expect(await open({ tipHeight: confirmsAtHeight + 1 }).verify()).to.deep.equal(verified);
    const others = receiptWith({
      transfers: [
        { ...log, ordinal: 1 },
        { ...log, logIndex: 2 },
      ] as never,
    });
    expect(await open({ receipt: others }).verify()).to.deep.equal(verified);
    const waiting: readonly Partial<View>[] = [
      { tipHeight: confirmsAtHeight - 1 },
      { tipHeight: confirmsAtHeight - 1, tipAge: hour },
      { receipt: null, tipHeight: blockHeight - 1 },
      { failure: away },
    ];
    for (const view of waiting) {
      const till = open(view);
      for (let minutes = 0; minutes < 5; minutes += 1) {
        expect(await till.verify(), JSON.stringify(view)).to.deep.equal([]);
        till.advance(minute);
      }
      expect(till.alarms.open()).to.deep.equal([]);
      expect(till.verifier().held()).to.deep.equal([]);
    }
  });

  it("holds the payment if it contradicts the scan, with the provider's name and the reason", async () => {
    const contradictions: readonly [reason: string, Partial<View>][] = [
      ["it does not know the transaction", { receipt: null, tipHeight: blockHeight }],
      ["the transaction failed", { receipt: receiptWith({ succeeded: false }) }],
      ["the transaction is in another block", { receipt: receiptWith({ blockHash: "b11" }) }],
      ...Object.entries({
        ordinal: 1,
        contract: "fake",
        from: "other",
        to: "other",
        amount: 26n,
      }).map(([field, value]): [string, Partial<View>] => [
        "the transaction does not contain the transfer",
        { receipt: receiptWith({}, { [field]: value }) },
      ]),
    ];
    for (const [reason, view] of contradictions) {
      const till = open({}, view);
      expect(await till.verify(), reason).to.deep.equal([]);
      const [alarm, ...others] = till.alarms.open();
      expect(alarm).to.include({ kind: "payment_held", subject: "pay_1" });
      expect(alarm?.message).to.contain(`(http://1: ${reason})`);
      expect(others).to.deep.equal([]);
      expect(till.verifier().held()).to.deep.equal(["pay_1"]);
    }
  });

  it("is read again after 5 seconds, and after twice as long each time, up to 5 minutes", async () => {
    const till = open({ receipt: receiptWith({ succeeded: false }) });
    for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
      await till.verify();
      const asked = till.view(0).receipts;
      till.advance(seconds * second - 1);
      await till.verify();
      expect(till.view(0).receipts, String(seconds)).to.equal(asked);
      till.advance(1);
    }
  });

  it("is read again at once, one time, after the failures of simulated providers were ended", async () => {
    const till = open({ receipt: receiptWith({ succeeded: false }) });
    await till.verify();
    till.advance(1);
    till.readmitted.at = till.now();
    till.advance(1);
    await till.verify();
    expect(till.view(0).receipts).to.equal(2);
    till.advance(1);
    await till.verify();
    expect(till.view(0).receipts).to.equal(2);
    till.advance(1);
    till.readmitted.at = till.now();
    till.view(0).receipt = receiptWith();
    expect(await till.verify()).to.deep.equal(verified);
    const together = open({ receipt: receiptWith({ succeeded: false }) });
    await together.verify();
    together.readmitted.at = together.now();
    together.view(0).receipt = receiptWith();
    expect(await together.verify()).to.deep.equal(verified);
  });

  it("releases the payment once it agrees, and the waiting times start over", async () => {
    const till = open({ receipt: receiptWith({ succeeded: false }) });
    for (let times = 0; times < 4; times += 1) {
      await till.verify();
      till.advance(minute);
    }
    till.view(0).receipt = receiptWith();
    expect(await till.verify()).to.deep.equal(verified);
    expect(till.verifier().held()).to.deep.equal([]);
    expect(till.alarms.open()).to.deep.equal([]);
    till.view(0).receipt = null;
    await till.verify();
    till.view(0).receipt = receiptWith();
    till.advance(5 * second);
    expect(await till.verify()).to.deep.equal(verified);
  });

  it("must be at two of several providers, of which no more are asked", async () => {
    const till = open({}, {}, { receipt: null });
    expect(await till.verify()).to.deep.equal(verified);
    expect(till.view(2).receipts).to.equal(0);
    expect(await open({}, { failure: away }, {}).verify()).to.deep.equal(verified);
    expect(await open({}, { failure: away }).verify()).to.deep.equal([]);
  });

  it("is read once for all payments of a transaction, and a provider that fails is asked once in a round", async () => {
    const till = open({}, {});
    const payments = Array.from({ length: 25 }, (_, place) => payment(`pay_${String(place)}`));
    expect(await till.verify(...payments)).to.deep.equal(payments.map(({ id }) => id));
    expect([0, 1].map((place) => till.view(place).receipts)).to.deep.equal([1, 1]);
    expect([0, 1].map((place) => till.view(place).tips)).to.deep.equal([1, 1]);
    // The first provider is asked about the first transaction only, although another one follows.
    till.view(0).failure = away;
    const other = { ...payment(), transfer: { ...transfer, transactionHash: "bb" } };
    await till.verify(...payments.slice(0, 20), other);
    expect([0, 1].map((place) => till.view(place).receipts)).to.deep.equal([2, 3]);
  });

  it("is not compared if something else fails than a provider", async () => {
    const till = open({ failure: new TypeError("a fault of Till") });
    const failed = await till.verify().catch((error: unknown) => String(error));
    expect(failed).to.equal("TypeError: a fault of Till");
  });

  it("shows whether a transfer that is not listed is still there", async () => {
    const answers: readonly [boolean, Receipt | null][] = [
      [true, receiptWith()],
      [false, null],
      [false, receiptWith({ blockHash: "b11" })],
    ];
    for (const [isThere, receipt] of answers) {
      const client = { receipt: () => Promise.resolve(receipt) } as Partial<ChainClient>;
      expect(await isStillThere(client as ChainClient, transfer)).to.equal(isThere);
    }
  });

  it("of each payment is compared on its own", async () => {
    const till = open({});
    const other = { ...payment("pay_2"), transfer: { ...transfer, amount: 24n } };
    expect(await till.verify(other, payment())).to.deep.equal(verified);
    expect(till.verifier().held()).to.deep.equal(["pay_2"]);
  });
});

describe("The wait for a second provider", () => {
  /** Verifies every 30 seconds, and returns the number of seconds after which the payment was verified. */
  async function waitFor(till: ReturnType<typeof open>, most = 600): Promise<number | null> {
    for (let seconds = 0; seconds <= most; seconds += 30) {
      if ((await till.verify()).length > 0) return seconds;
      till.advance(30 * second);
    }
    return null;
  }

  it("takes two minutes if it is away, or if its blocks are old or do not reach the transfer", async () => {
    const old = { tipHeight: confirmsAtHeight - 1, tipAge: minute + 1 };
    const without = { receipt: null, tipHeight: blockHeight - 1 };
    for (const view of [{ failure: away }, old, without]) {
      expect(await waitFor(open({}, view)), JSON.stringify(view)).to.equal(120);
      expect(await waitFor(open(view, {})), JSON.stringify(view)).to.equal(120);
    }
    expect(await waitFor(open({ failure: away }, old))).to.equal(null);
  });

  it("takes two minutes if its logs cannot be read and may hide the transfer, and nothing if they show it", async () => {
    const unreadableLogs = 1;
    const hiding = receiptWith({ transfers: [], unreadableLogs });
    const till = open({}, { receipt: hiding });
    expect(await waitFor(till)).to.equal(120);
    expect(till.alarms.open()).to.deep.equal([]);
    const shown = open({}, { receipt: receiptWith({ unreadableLogs }) });
    expect(await waitFor(shown)).to.equal(0);
    // A receipt of another block hides nothing, and the only provider is not waited for.
    const elsewhere = open({}, { receipt: { ...hiding, blockHash: "b11" } });
    const alone = open({ receipt: hiding });
    for (const held of [elsewhere, alone]) {
      expect(await waitFor(held)).to.equal(null);
      expect(held.verifier().held()).to.deep.equal(["pay_1"]);
    }
    const [alarm] = alone.alarms.open();
    expect(alarm?.message).to.contain("the transaction does not contain the transfer");
  });

  it("does not end while its blocks are recent: the chain has not reached the confirming block", async () => {
    const early = { tipHeight: confirmsAtHeight - 1, tipAge: minute };
    expect(await waitFor(open({}, early))).to.equal(null);
    expect(await waitFor(open({}, early, { failure: away }))).to.equal(null);
  });

  it("counts from when the pool found it failing, but only if it is away", async () => {
    const till = open({}, { failure: away });
    till.unusable.set("http://1", till.now() - 90 * second);
    expect(await waitFor(till)).to.equal(30);
    const behind = open({}, { tipHeight: confirmsAtHeight - 1, tipAge: hour });
    behind.unusable.set("http://1", behind.now() - hour);
    expect(await waitFor(behind)).to.equal(120);
  });

  it("must be over for each missing provider", async () => {
    const till = open({}, { failure: away }, { failure: away });
    till.unusable.set("http://1", till.now() - hour);
    expect(await waitFor(till)).to.equal(120);
  });

  it("starts over after two minutes without a question, and after an answer", async () => {
    const till = open({}, { failure: away });
    expect(await till.verify()).to.deep.equal([]);
    till.advance(2 * minute);
    expect(await till.verify()).to.deep.equal([]);
    till.advance(2 * minute - 1);
    expect(await till.verify()).to.deep.equal([]);
    till.advance(1);
    expect(await till.verify()).to.deep.equal(verified);
    Object.assign(till.view(1), { failure: null, tipHeight: confirmsAtHeight - 1 });
    expect(await till.verify()).to.deep.equal([]);
    till.view(1).failure = away;
    expect(await waitFor(till)).to.equal(120);
  });

  it("is not prolonged by a clock that is set back", async () => {
    const till = open({}, { failure: away });
    await till.verify();
    till.advance(-30 * minute);
    expect(await waitFor(till)).to.equal(120);
  });

  it("never ends for a payment that a provider denied, not even after a restart", async () => {
    const till = open({}, { receipt: null });
    await till.verify();
    till.view(1).failure = away;
    till.advance(minute);
    expect(await waitFor(till)).to.equal(null);
    till.restart();
    expect(till.verifier().held()).to.deep.equal(["pay_1"]);
    expect(await waitFor(till)).to.equal(null);
    till.view(1).failure = null;
    till.view(1).receipt = receiptWith();
    expect(await till.verify()).to.deep.equal(verified);
  });
});

describe("The payments that are held", () => {
  it("are those of this kind that an earlier process held too, each once, and not the rest's alarm", async () => {
    const till = open({ receipt: null });
    till.alarms.raise("payment_held", "pay_0", "held");
    till.alarms.raise("transfer_held", "trf_0", "held");
    till.alarms.raise("payment_held", restSubject, "others");
    await till.verify();
    expect([...till.verifier().held()].sort()).to.deep.equal(["pay_0", "pay_1"]);
    till.verifier().release(["pay_0", "pay_1"]);
    expect(till.verifier().held()).to.deep.equal([]);
    expect(till.alarms.open().map(({ subject }) => subject)).to.deep.equal(["trf_0"]);
  });

  it("are remembered up to a limit, the newest", async () => {
    const till = open({ receipt: receiptWith({ succeeded: false }) });
    const many = Array.from({ length: 10_001 }, (_, place) => payment(`pay_${String(place)}`));
    await till.verify(...many.slice(0, 10_000));
    // The first one is held again and so becomes the newest.
    till.advance(5 * second);
    await till.verify(...many.slice(0, 1));
    await till.verify(...many.slice(10_000));
    till.advance(-1);
    const asked = till.view(0).receipts;
    for (const place of [0, 2, 10_000]) await till.verify(...many.slice(place, place + 1));
    expect(till.view(0).receipts).to.equal(asked);
    await till.verify(...many.slice(1, 2));
    expect(till.view(0).receipts).to.equal(asked + 1);
  });
});
