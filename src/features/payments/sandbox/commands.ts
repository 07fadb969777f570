import {
  commandsOf,
  type CommandArgument,
  type CommandFlag,
} from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Head } from "../../../platform/chain/client.ts";
import type { NetworkKind } from "../../../platform/chain/networks.ts";
import type { SandboxFault } from "../../../platform/chain/sandbox/chain.ts";
import type { SandboxService, SandboxScenario } from "./service.ts";

export { chainCommands } from "../networks/commands.ts";

const command = commandsOf<SandboxService>();

const drop: CommandFlag = {
  flags: "--drop",
  description: "drop their transactions instead of including them in a later block",
};

/** Blocks of a running chain without the transactions of a reorganization, so that the watcher sees that they are gone. */
const absentBlocks = 3;

const invoiceArgument: CommandArgument = { name: "invoiceId", description: "such as inv_01h…" };

const scenarios: readonly (readonly [SandboxScenario, string])[] = [
  ["part", "Pay half of an invoice's remaining amount"],
  ["over", "Pay an invoice and one whole token more"],
  ["double", "Pay an invoice twice"],
  ["late", "Expire an invoice, then pay it"],
  ["fail", "Pay an invoice with a call that fails, so that no token moves"],
  ["fake", "Pay an invoice in a fake token with the same symbol"],
  ["zero", "Send a transfer of zero to an invoice's address"],
  ["dust", "Send less than the token's minimum to an invoice's address"],
  ["lie", "Make the first provider report a payment that never happened"],
];

/** The scenarios whose payment never counts, so that the invoice stays as it is, without an event. */
const uncounted: ReadonlySet<SandboxScenario> = new Set(["fail", "fake", "zero", "dust"]);

const faults: readonly (readonly [SandboxFault, string])[] = [
  ["stall", "Make all providers of the sandbox time out for a while"],
  ["refuse", "Make the first provider refuse requests for a while, as if a rate limit was reached"],
  ["silence", "Make the first provider return no logs for a while, as if nobody had paid"],
  ["contradict", "Make the first provider report every transaction as failed for a while"],
];

export const sandboxCommands = [
  command({
    name: "sandbox pay",
    summary: "Pay an invoice on the sandbox as its payer would",
    arguments: [{ name: "invoiceId", description: "such as inv_01h…" }],
    flags: [
      {
        flags: "--amount <amount>",
        description: "in the invoice's token, such as 24.00 (default: the remaining amount)",
      },
    ],
    examples: [
      "till sandbox pay inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till sandbox pay inv_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 24.00 --json",
    ],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const { parseMoneyField } = await import("../../../kernel/money/money.ts");
      const { tokenAsset } = await import("../../../kernel/money/asset.ts");
      const bill = await sandbox.bill(call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const given = call.flag("amount");
      const units =
        given === undefined ? bill.remaining : parseMoneyField("/amount", given, asset).units;
      const transaction = await sandbox.pay(call.context, bill.invoiceId, units);
      return { bill, transaction, amount: { units, asset }, network: sandbox.network };
    },
    async present({ bill, transaction, amount, network }) {
      const { formatMoney } = await import("../../../kernel/money/money.ts");
      const { kind } = network;
      return {
        invoiceId: bill.invoiceId,
        network: network.id,
        tokenSymbol: bill.token,
        amount: formatMoney(amount),
        fromAddress: kind.formatAddress(transaction.from),
        transactionHash: kind.formatTransactionHash(transaction.transactionHash),
        blockNumber: transaction.blockHeight,
      };
    },
    columns: ["invoiceId", "amount tokenSymbol", "transactionHash", "blockNumber"],
    next: () => "till sandbox mine 3, or wait for the blocks that confirm it",
  }),
  command({
    name: "sandbox send",
    summary: "Send tokens between two addresses of the sandbox, such as a refund",
    arguments: [
      { name: "to", description: "the recipient's address" },
      { name: "amount", description: "in tokens, such as 5.00" },
    ],
    flags: [
      {
        flags: "--from <address>",
        description: "the sender's address, such as that of your wallet",
        ask: "The sender's address",
      },
      { flags: "--token <symbol>", description: "such as USDC (default: USDT)" },
    ],
    examples: [
      `till sandbox send 0x${"be".repeat(20)} 5.00 --from 0x${"af".repeat(20)}`,
      `till sandbox send 0x${"be".repeat(20)} 5.00 --from 0x${"af".repeat(20)} --token USDC --json`,
    ],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const token = call.flag("token") ?? "USDT";
      const amount = call.argument("amount");
      const from = call.flag("from") ?? "";
      const given = { from, to: call.argument("to"), token, amount };
      const transaction = await sandbox.send(call.context, given);
      return { given, transaction, network: sandbox.network };
    },
    present({ given: { token, amount, to }, transaction, network: { id, kind } }) {
      return Promise.resolve({
        network: id,
        tokenSymbol: token,
        amount,
        fromAddress: kind.formatAddress(transaction.from),
        toAddress: to,
        transactionHash: kind.formatTransactionHash(transaction.transactionHash),
        blockNumber: transaction.blockHeight,
      });
    },
    columns: ["amount tokenSymbol", "fromAddress", "toAddress", "transactionHash", "blockNumber"],
    identify: ({ transactionHash }) => transactionHash,
  }),
  command({
    name: "sandbox batch",
    summary: "Pay an invoice with several transfers in one transaction",
    arguments: [invoiceArgument],
    flags: [
      {
        flags: "--amounts <amounts>",
        description: "in the invoice's token, comma-separated, such as 10,14.00",
        ask: "Which amounts, comma-separated?",
      },
    ],
    examples: [
      "till sandbox batch inv_01kq3v5m8w2f6n9r4t7x0z1c3e --amounts 10,14.00",
      "till sandbox batch inv_01kq3v5m8w2f6n9r4t7x0z1c3e --amounts 10,14.00 --json",
    ],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const { parseMoneyField } = await import("../../../kernel/money/money.ts");
      const { tokenAsset } = await import("../../../kernel/money/asset.ts");
      const bill = await sandbox.bill(call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const amounts = (call.flag("amounts") ?? "")
        .split(",")
        .map((given, place) => parseMoneyField(`/amounts/${String(place)}`, given, asset));
      const units = amounts.map((each) => each.units);
      const transaction = await sandbox.payTogether(call.context, bill.invoiceId, units);
      return { bill, transaction, amounts, network: sandbox.network };
    },
    async present({ bill, transaction, amounts, network }) {
      const { formatMoney } = await import("../../../kernel/money/money.ts");
      return {
        invoiceId: bill.invoiceId,
        network: network.id,
        tokenSymbol: bill.token,
        amounts: amounts.map((amount) => formatMoney(amount)),
        transactionHash: network.kind.formatTransactionHash(transaction.transactionHash),
        blockNumber: transaction.blockHeight,
      };
    },
    columns: [
      "invoiceId",
      { title: "Amounts", value: (sent) => `${sent.amounts.join(" + ")} ${sent.tokenSymbol}` },
      "transactionHash",
      "blockNumber",
    ],
    identify: (sent) => sent.transactionHash,
    next: () => "till sandbox mine 3, or wait for the blocks that confirm it",
  }),
  ...scenarios.map(([scenario, summary]) =>
    command({
      name: `sandbox ${scenario}`,
      summary,
      arguments: [invoiceArgument],
      examples: [
        `till sandbox ${scenario} inv_01kq3v5m8w2f6n9r4t7x0z1c3e`,
        `till sandbox ${scenario} inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json`,
      ],
      effect: "write-without-trial",
      async handle(sandbox, call) {
        const invoiceId = call.argument("invoiceId") as Id<"invoice">;
        const sent = await sandbox.play(call.context, invoiceId, scenario);
        return { sent, kind: sandbox.network.kind };
      },
      present({ sent, kind }) {
        const data = sent.map(({ transactionHash, blockHeight }) => ({
          transactionHash: kind.formatTransactionHash(transactionHash),
          blockNumber: blockHeight,
        }));
        return Promise.resolve({ data, nextCursor: null });
      },
      columns: ["transactionHash", "blockNumber"],
      identify: (one) => one.transactionHash,
      next: () =>
        uncounted.has(scenario)
          ? "nothing comes of it: the invoice stays as it is, and has no event"
          : "till sandbox mine 3, or wait for the blocks that include it",
    }),
  ),
  ...faults.map(([fault, summary]) =>
    command({
      name: `sandbox ${fault}`,
      summary,
      arguments: [
        {
          name: "seconds",
          description: "duration in seconds (60); 0 ends the fault",
          isOptional: true,
        },
      ],
      examples: [`till sandbox ${fault} 30`, `till sandbox ${fault} 0 --json`],
      effect: "write-without-trial",
      async handle(sandbox, call) {
        const seconds = call.optionalArgument("seconds") ?? "60";
        const forMs = seconds === "0" ? 0 : (await wholeNumber("seconds", seconds)) * 1_000;
        return { fault, until: await sandbox.disturb(call.context, fault, forMs) };
      },
      async present({ fault: shown, until }) {
        return { fault: shown, until: (await import("../../../kernel/clock.ts")).toIso(until) };
      },
      columns: ["until"],
      identify: (one) => one.fault,
    }),
  ),
  command({
    name: "sandbox expire",
    summary: "Expire an invoice now",
    arguments: [invoiceArgument],
    examples: [
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const invoiceId = call.argument("invoiceId") as Id<"invoice">;
      await sandbox.expire(call.context, invoiceId);
      return { invoiceId };
    },
    present: (done) => Promise.resolve(done),
    columns: ["invoiceId"],
    identify: (one) => one.invoiceId,
    next: () => "till sandbox mine, or wait for a block: deadlines follow the chain's time",
  }),
  command({
    name: "sandbox mine",
    summary: "Mine blocks on the sandbox now",
    arguments: [{ name: "blocks", description: "the number of blocks (1)", isOptional: true }],
    examples: ["till sandbox mine", "till sandbox mine 3 --json"],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const blocks = await wholeNumber("blocks", call.optionalArgument("blocks") ?? "1");
      const head = await sandbox.mine(call.context, blocks);
      await sandbox.untilRead(head);
      return { kind: sandbox.network.kind, head };
    },
    present: ({ kind, head }) => presentHead(kind, head),
    columns: ["blockNumber", ["blockHash", "Hash"]],
  }),
  command({
    name: "sandbox reorg",
    summary: "Replace the newest blocks of the sandbox",
    arguments: [
      {
        name: "from",
        description: "an invoice, from whose newest payment on, or the number of blocks",
        takes: ["invoice"],
      },
    ],
    flags: [drop],
    examples: [
      "till sandbox reorg inv_01kq3v5m8w2f6n9r4t7x0z1c3e --drop",
      "till sandbox reorg 2 --json",
    ],
    effect: "write-without-trial",
    async handle(sandbox, call) {
      const given = call.argument("from");
      const from = given.startsWith("inv_")
        ? (given as Id<"invoice">)
        : await wholeNumber("blocks", given);
      const options = { drop: call.isSet("drop"), absentBlocks };
      const change = await sandbox.reorganize(call.context, from, options);
      await sandbox.untilRead(change.tip);
      return { kind: sandbox.network.kind, change };
    },
    async present({ kind, change }) {
      return {
        ...(await presentHead(kind, change.tip)),
        fromBlockNumber: change.fromHeight,
        transactionHashes: change.transactions.map((hash) => kind.formatTransactionHash(hash)),
      };
    },
    columns: [
      ["fromBlockNumber", "Replaced from block"],
      ["blockNumber", "To block"],
      "transactionHashes",
    ],
    next({ transactionHashes }, call) {
      if (transactionHashes.length === 0) {
        return "till sandbox reorg inv_…, because these blocks had no transfer: it replaces those of a payment";
      }
      return call.isSet("drop")
        ? "till sandbox pay inv_… pays again; the dropped transactions do not come back"
        : "till sandbox mine 3 includes the transactions again";
    },
  }),
];

async function presentHead(kind: NetworkKind, head: Head) {
  const { toIso } = await import("../../../kernel/clock.ts");
  return {
    blockNumber: head.height,
    blockHash: kind.formatBlockHash(head.hash),
    blockTime: toIso(head.time),
  };
}

async function wholeNumber(name: string, text: string): Promise<number> {
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidRequest(`The number of ${name} must be a whole number from 1 to 999,999,999.`);
}
