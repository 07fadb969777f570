// Nodes that write things differently: an odd part spoils nothing but itself, and no money is lost or counted twice.
import { expect } from "chai";
import {
  listNetworkStatuses,
  scanBlocks,
} from "../../../../src/features/payments/networks/chain.ts";
import { systemContext } from "../../../../src/platform/database/database.ts";
import { hour, minute } from "../../../../src/kernel/clock.ts";
import type { FakeNode } from "../../../support/chain/fake-node.ts";
import { JsonRpcRefusal } from "../../../support/chain/json-rpc.ts";
import type { Lie } from "../../../support/chain/rpc-front.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork, type PooledOptions } from "../../../support/chain/world.ts";
import { addressOf, wordOf } from "../../../support/chain/fake-chain.ts";

type Log = Readonly<Record<string, unknown>>;

const shop = addressOf("shop");
const other = addressOf("other shop");
const odd = wordOf("odd");
const sound = wordOf("sound");

/** Changes every log that a node lists, also those in its receipts. */
function writing(change: (log: Log, place: number) => unknown): Lie {
  const all = (logs: readonly Log[]) => logs.map(change);
  const ofReceipt = (receipt: { readonly logs: readonly Log[] }) => ({
    ...receipt,
    logs: all(receipt.logs),
  });
  return ({ method }, result) => {
    if (method === "eth_getLogs") return all(result as readonly Log[]);
    if (result === null) return null;
    if (method === "eth_getTransactionReceipt") return ofReceipt(result as never);
    if (method === "eth_getBlockReceipts") return (result as never[]).map(ofReceipt);
    return result;
  };
}

/** Changes the odd transaction's logs only. */
const writingOdd = (change: object): Lie =>
  writing((log) => (log["transactionHash"] === `0x${odd}` ? { ...log, ...change } : log));

const decimal = (quantity: unknown) => Number(quantity);
const padded = (quantity: unknown) => `0x${String(quantity).slice(2).padStart(16, "0")}`;

/** A line for each way of writing with which all money must arrive, from the only provider. */
const readableForms: Readonly<Record<string, Lie>> = {
  "the times of logs as JSON numbers": writing((log) => ({
    ...log,
    blockTimestamp: decimal(log["blockTimestamp"]),
  })),
  "all numbers of logs as JSON numbers": writing((log) => ({
    ...log,
    blockNumber: decimal(log["blockNumber"]),
    logIndex: decimal(log["logIndex"]),
  })),
  "numbers with leading zeros": writing((log) => ({
    ...log,
    blockNumber: padded(log["blockNumber"]),
    logIndex: padded(log["logIndex"]),
    blockTimestamp: padded(log["blockTimestamp"]),
  })),
  "times that cannot be read": writing((log) => ({ ...log, blockTimestamp: "soon" })),
  "no log indexes": writing((log) => ({ ...log, logIndex: null })),
  "log indexes that all are zero": writing((log) => ({ ...log, logIndex: "0x0" })),
  "null for no logs": ({ method }, result) =>
    method === "eth_getLogs" && (result as Log[]).length === 0 ? null : result,
  "pending logs among mined ones": ({ method }, result) => {
    const logs = result as readonly Log[];
    const [first] = method === "eth_getLogs" ? logs : [];
    if (first === undefined) return result;
    return [{ ...first, blockNumber: null, blockHash: null, logIndex: null }, ...logs];
  },
  "logs of other contracts that cannot be read": ({ method }, result) => {
    const logs = result as readonly Log[];
    const [first] = method === "eth_getLogs" ? logs : [];
    if (first === undefined) return result;
    return [{ ...first, address: `0x${other}`, data: 5, blockHash: 7 }, ...logs];
  },
};

/** A line for each way of writing a transfer that cannot be read. */
const unreadableForms: Readonly<Record<string, Lie>> = {
  "an amount": writingOdd({ data: 25 }),
  "an amount without its leading zeros": writingOdd({ data: "0x017d7840" }),
  "an amount with an odd number of digits": writingOdd({ data: "0x17d7840" }),
  "an event": writing((log) => {
    const [, from, to] = log["topics"] as readonly unknown[];
    return log["transactionHash"] === `0x${odd}` ? { ...log, topics: [7, from, to] } : log;
  }),
  "a block that was not asked for": writingOdd({ blockNumber: "0x1" }),
  "an amount without digits": writingOdd({ data: `0x${"zz".repeat(32)}` }),
  "a block's number": writingOdd({ blockNumber: "7" }),
  "a block's hash": writingOdd({ blockHash: "none" }),
  "a sender": writingOdd({ topics: null }),
  "a contract": writingOdd({ address: 7 }),
  "a whole log": writing((log) => (log["transactionHash"] === `0x${odd}` ? "odd" : log)),
};

anyStore("A node that writes things differently", (store) => {
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  const opened: PooledNetwork[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });

  async function open(lie: Lie, options: PooledOptions = {}): Promise<readonly FakeNode[]> {
    till = await openPool(await store.open(), options);
    opened.push(till);
    till.invoices.ask({ address: shop });
    till.invoices.ask({ address: other });
    till.nodes[0]?.lie(lie);
    return till.nodes;
  }
  /** Mines a transaction in the odd form beside a sound one, with its confirmations. */
  async function pay(): Promise<void> {
    till.chain.mine([
      { to: shop, amount: token(25), transactionHash: odd },
      { to: other, amount: token(25), transactionHash: sound },
    ]);
    await till.look();
    await till.mine(20);
  }
  const paid = async () =>
    (await till.payments())
      .filter(({ status }) => status === "confirmed")
      .map(({ transactionHash }) => transactionHash);

  for (const [form, lie] of Object.entries(readableForms)) {
    it(`is read with every payment if it writes ${form}`, async () => {
      await open(lie, { nodes: 1 });
      await pay();
      expect(await paid()).to.have.members([odd, sound]);
      expect(await till.storedAlarms()).to.deep.equal([]);
      expect(till.watcher.health().problem).to.equal(null);
    });

    it(`agrees with an ordinary node if it writes ${form}, whichever of them is read first`, async () => {
      for (const first of [0, 1]) {
        const nodes = await open(lie, { nodes: 2 });
        if (first === 1) {
          nodes[0]?.lie(null);
          nodes[1]?.lie(lie);
        }
        await pay();
        // The final blocks are read again from the other node.
        for (let hours = 0; hours < 3; hours += 1) {
          till.advance(3_600_000);
          await till.mine(1);
        }
        expect(await paid()).to.have.members([odd, sound]);
        expect(await till.transfers()).to.have.length(2);
        expect(await till.storedAlarms()).to.deep.equal([]);
      }
    });
  }

  for (const [part, lie] of Object.entries(unreadableForms)) {
    it(`reads the other payments beside ${part} that cannot be read, and says which money may be missing`, async () => {
      await open(lie, { nodes: 1 });
      await pay();
      expect(await paid()).to.deep.equal([sound]);
      expect(await till.storedAlarms()).to.deep.equal(["log_unreadable"]);
      expect(till.watcher.health().problem).to.equal(null);
      const [status] = await listNetworkStatuses(till.app, { isLive: false });
      expect(status?.providers[0]?.dropped?.unreadable_log).to.be.greaterThan(0);
      const [health] = till.pool.counts();
      expect(health?.dropped.unreadable_log).to.be.greaterThan(0);
      // Once the provider writes as others do, a scan enters the payment.
      till.nodes[0]?.lie(null);
      const { height } = { height: till.chain.height() };
      await scanBlocks(till.app, systemContext("test"), "ethereum", {
        from: height - 25,
        to: height - 15,
      });
      await till.mine(5);
      expect(await paid()).to.have.members([odd, sound]);
    });

    it(`reads ${part} from another node if one has it in a form that can be read`, async () => {
      await open(lie, { nodes: 2 });
      await pay();
      expect(await till.transfers()).to.have.length(2);
      expect(await till.storedAlarms()).to.not.include("log_unreadable");
    });

    it(`keeps a payment on record after its node begins to write ${part} in a form that cannot be read`, async () => {
      const [node] = await open(() => undefined, { nodes: 1 });
      node?.lie(null);
      till.chain.mine([{ to: shop, amount: token(25), transactionHash: odd }]);
      await till.look();
      node?.lie(lie);
      await till.mine(2);
      // A receipt repeats the fields of its logs, so that some forms are readable there.
      const [payment] = await till.payments();
      expect(payment?.status).to.be.oneOf(["confirming", "confirmed"]);
      expect(await till.storedAlarms()).to.include("log_unreadable");
    });

    it(`follows a payment into the block that replaced its own while ${part} could not be read`, async () => {
      const [node] = await open(() => undefined, { nodes: 1 });
      node?.lie(null);
      const payment = { to: shop, amount: token(25), transactionHash: odd };
      till.chain.mine([payment]);
      await till.look();
      till.chain.reorg(4);
      till.chain.place(59, [payment]);
      node?.lie(lie);
      till.pass(20);
      await till.look();
      expect(await till.transfers()).to.have.length(1);
      node?.lie(null);
      for (const milliseconds of [3 * minute, hour]) {
        till.advance(milliseconds);
        till.keepPace();
        await till.look();
      }
      const [row, ...others] = await till.transfers();
      expect(others).to.deep.equal([]);
      expect(row).to.include({ status: "seen", blockHeight: 59 });
      expect(await paid()).to.deep.equal([odd]);
    });
  }

  it("does not count as a reader of logs that cannot be read for a day, if another node is away", async () => {
    const [, second] = await open(writingOdd({ data: 25 }), { nodes: 2 });
    const away: Lie = () => {
      throw new JsonRpcRefusal(-32_603, "internal error");
    };
    second?.lie(away);
    await pay();
    expect(await paid()).to.deep.equal([sound]);
    const wait = async (milliseconds: number) => {
      till.advance(milliseconds);
      till.keepPace();
      await till.look();
    };
    for (let hours = 0; hours < 3; hours += 1) await wait(hour);
    second?.lie(null);
    for (let waits = 0; waits < 3; waits += 1) await wait(5 * minute);
    const found = (await till.transfers()).map(({ transactionHash }) => transactionHash);
    expect(found).to.have.members([odd, sound]);
  });

  for (const [form, time] of [
    ["zero", () => "0x0"],
    ["in milliseconds", (log: Log) => `${String(log["blockTimestamp"])}000`],
  ] as const) {
    for (const count of [1, 2]) {
      it(`reads every payment from ${String(count)} that write times of logs that are ${form}, with the times of their blocks`, async () => {
        const nodes = await open(() => undefined, { nodes: count });
        const lie = writing((log) => ({ ...log, blockTimestamp: time(log) }));
        for (const node of nodes) node.lie(lie);
        await pay();
        expect(await paid()).to.have.members([odd, sound]);
        for (const { blockHeight, blockTime } of await till.transfers()) {
          expect(blockTime).to.equal(till.chain.block(blockHeight).time);
        }
        expect(till.watcher.health().problem).to.equal(null);
        expect(till.loggedAlarms).to.include("provider_wrong_time");
      });
    }
  }

  for (const [where, rangeMax] of [
    ["one answer", Infinity],
    ["several answers", 1],
  ] as const) {
    for (const logIndex of ["0x0", "0x9"]) {
      it(`enters a transfer once that its node lists in two blocks of ${where}, with the index ${logIndex} in the second`, async () => {
        const [node] = await open(() => undefined, { nodes: 1 });
        if (node === undefined) throw new Error("no node");
        node.view.rangeMax = rangeMax;
        let known: Log | undefined;
        node.lie(({ method, params }, result) => {
          if (method !== "eth_getLogs") return result;
          const logs = result as readonly Log[];
          known = logs.find((log) => log["transactionHash"] === `0x${odd}`) ?? known;
          const { toBlock } = (params as readonly Log[])[0] ?? {};
          const next = Number(known?.["blockNumber"]) + 1;
          if (known === undefined || Number(toBlock) < next) return result;
          const [blockNumber, blockHash] = [
            `0x${next.toString(16)}`,
            `0x${till.chain.block(next).hash}`,
          ];
          return [...logs, { ...known, blockNumber, blockHash, logIndex }];
        });
        till.chain.mine([
          { to: shop, amount: token(25), transactionHash: odd },
          { to: other, amount: token(25), transactionHash: sound },
        ]);
        await till.mine(1);
        await till.mine(20);
        expect(await paid()).to.have.members([odd, sound]);
        expect(await till.transfers()).to.have.length(2);
        expect(await till.storedAlarms()).to.deep.equal(["log_unreadable"]);
        expect(till.watcher.health().problem).to.equal(null);
      });
    }
  }

  it("counts equal transfers of one transaction once each, however its nodes count logs", async () => {
    const [first] = await open(
      writing((log, place) => ({ ...log, logIndex: `0x${(90 - place).toString(16)}` })),
    );
    const equal = { to: shop, amount: token(10), transactionHash: odd };
    till.chain.mine([equal, equal, { ...equal, amount: token(5) }]);
    await till.look();
    for (const lie of [null, writing((log) => ({ ...log, logIndex: null }))]) {
      first?.lie(lie);
      await till.mine(1);
      const rows = await till.transfers();
      expect(rows.map(({ amount, ordinal }) => [amount, ordinal])).to.have.deep.members([
        [token(10), 0],
        [token(10), 1],
        [token(5), 0],
      ]);
    }
    await till.mine(20);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(
      Array.from({ length: 3 }, () => "confirmed"),
    );
    expect(await till.storedAlarms()).to.deep.equal([]);
  });
});
