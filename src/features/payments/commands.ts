import { commandsOf, type CommandArgument, type CommandFlag } from "../../api/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { Head } from "../../platform/chain/client.ts";
import type { SandboxFault } from "../../platform/chain/sandbox/chain.ts";
import type { SandboxDesk, SandboxScene } from "./sandbox-desk.ts";

export { chainCommands } from "./chain-commands.ts";

const command = commandsOf<SandboxDesk>();

const drop: CommandFlag = {
  flags: "--drop",
  description: "their transactions are gone, instead of coming again in a later block",
};

const invoiceArgument: CommandArgument = { name: "invoiceId", description: "such as inv_01h…" };

const scenes: readonly (readonly [SandboxScene, string])[] = [
  ["part", "Pay half of what an invoice still asks for"],
  ["over", "Pay an invoice, and a whole token more"],
  ["double", "Pay an invoice twice"],
  ["late", "End an invoice's time, and pay it then"],
  ["fail", "Pay an invoice by a call that fails: nothing moves"],
  ["fake", "Pay an invoice in a token that only calls itself the same"],
  ["zero", "Send an invoice's address a transfer of nothing"],
  ["dust", "Send an invoice's address less than counts"],
  ["lie", "Let the first provider tell of a payment that never happened"],
];

const faults: readonly (readonly [SandboxFault, string])[] = [
  ["stall", "Let no provider of the sandbox answer for a while"],
  ["refuse", "Let the first provider refuse for a while, as if it was asked too often"],
  ["silence", "Let the first provider have no logs for a while, as if nobody had paid"],
  ["contradict", "Let the first provider call every transaction failed for a while"],
];

export const sandboxCommands = [
  command({
    name: "sandbox pay",
    summary: "Pay an invoice of the sandbox, as its payer would",
    arguments: [{ name: "invoiceId", description: "such as inv_01h…" }],
    flags: [
      {
        flags: "--amount <amount>",
        description: "in the invoice's token, such as 24.00; without it what is still to pay",
      },
    ],
    examples: [
      "till sandbox pay inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till sandbox pay inv_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 24.00 --json",
    ],
    effect: "write-without-trial",
    async handle(desk, call) {
      const { parseMoneyField } = await import("../../kernel/money.ts");
      const { tokenAsset } = await import("../../kernel/asset.ts");
      const bill = await desk.bill(call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const given = call.flag("amount");
      const units =
        given === undefined ? bill.remaining : parseMoneyField("/amount", given, asset).units;
      const transaction = await desk.pay(call.context, bill.invoiceId, units);
      return { bill, transaction, amount: { units, asset }, network: desk.network };
    },
    async present({ bill, transaction, amount, network }) {
      const { formatMoney } = await import("../../kernel/money.ts");
      const { formatAddress } = await import("../../platform/chain/address.ts");
      const { formatTransactionHash } = await import("../../platform/chain/transaction-hash.ts");
      const form = network.addressForm;
      return {
        invoiceId: bill.invoiceId,
        network: network.id,
        tokenSymbol: bill.token,
        amount: formatMoney(amount),
        fromAddress: formatAddress(form, transaction.from),
        transactionHash: formatTransactionHash(form, transaction.transactionHash),
        blockNumber: transaction.blockHeight,
      };
    },
    columns: [
      { title: "Invoice", value: (sent) => sent.invoiceId },
      { title: "Amount", value: (sent) => `${sent.amount} ${sent.tokenSymbol}` },
      { title: "Transaction", value: (sent) => sent.transactionHash },
      { title: "Block", value: (sent) => sent.blockNumber },
    ],
    next: () => "till sandbox mine 3, or wait for the blocks that confirm it",
  }),
  command({
    name: "sandbox batch",
    summary: "Pay an invoice by several transfers in one transaction",
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
    async handle(desk, call) {
      const { parseMoneyField } = await import("../../kernel/money.ts");
      const { tokenAsset } = await import("../../kernel/asset.ts");
      const bill = await desk.bill(call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const amounts = (call.flag("amounts") ?? "")
        .split(",")
        .map((given, place) => parseMoneyField(`/amounts/${String(place)}`, given, asset));
      const units = amounts.map((each) => each.units);
      const transaction = await desk.payTogether(call.context, bill.invoiceId, units);
      return { bill, transaction, amounts, network: desk.network };
    },
    async present({ bill, transaction, amounts, network }) {
      const { formatMoney } = await import("../../kernel/money.ts");
      const { formatTransactionHash } = await import("../../platform/chain/transaction-hash.ts");
      return {
        invoiceId: bill.invoiceId,
        network: network.id,
        tokenSymbol: bill.token,
        amounts: amounts.map((amount) => formatMoney(amount)),
        transactionHash: formatTransactionHash(network.addressForm, transaction.transactionHash),
        blockNumber: transaction.blockHeight,
      };
    },
    columns: [
      { title: "Invoice", value: (sent) => sent.invoiceId },
      { title: "Amounts", value: (sent) => `${sent.amounts.join(" + ")} ${sent.tokenSymbol}` },
      { title: "Transaction", value: (sent) => sent.transactionHash },
      { title: "Block", value: (sent) => sent.blockNumber },
    ],
    identify: (sent) => sent.transactionHash,
    next: () => "till sandbox mine 3, or wait for the blocks that confirm it",
  }),
  ...scenes.map(([scene, summary]) =>
    command({
      name: `sandbox ${scene}`,
      summary,
      arguments: [invoiceArgument],
      examples: [
        `till sandbox ${scene} inv_01kq3v5m8w2f6n9r4t7x0z1c3e`,
        `till sandbox ${scene} inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json`,
      ],
      effect: "write-without-trial",
      handle: (desk, call) =>
        desk.play(call.context, call.argument("invoiceId") as Id<"invoice">, scene),
      async present(sent) {
        const hashOf = await hashFormatter();
        const data = sent.map(({ transactionHash, blockHeight }) => ({
          transactionHash: hashOf(transactionHash),
          blockNumber: blockHeight,
        }));
        return { data, nextCursor: null };
      },
      columns: [
        { title: "TRANSACTION", value: (one) => one.transactionHash },
        { title: "BLOCK", value: (one) => one.blockNumber },
      ],
      identify: (one) => one.transactionHash,
      next: () => "till sandbox mine 3, or wait for the blocks that it comes into",
    }),
  ),
  ...faults.map(([fault, summary]) =>
    command({
      name: `sandbox ${fault}`,
      summary,
      arguments: [
        { name: "seconds", description: "for how long (60); 0 ends it", isOptional: true },
      ],
      examples: [`till sandbox ${fault} 30`, `till sandbox ${fault} 0 --json`],
      effect: "write-without-trial",
      async handle(desk, call) {
        const seconds = call.optionalArgument("seconds") ?? "60";
        const forMs = seconds === "0" ? 0 : (await wholeNumber("seconds", seconds)) * 1_000;
        return { fault, until: await desk.disturb(call.context, fault, forMs) };
      },
      async present({ fault: shown, until }) {
        return { fault: shown, until: (await import("../../kernel/clock.ts")).toIso(until) };
      },
      columns: [{ title: "Until", value: (one) => one.until }],
      identify: (one) => one.fault,
    }),
  ),
  command({
    name: "sandbox expire",
    summary: "End an invoice's time now",
    arguments: [invoiceArgument],
    examples: [
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write-without-trial",
    async handle(desk, call) {
      const invoiceId = call.argument("invoiceId") as Id<"invoice">;
      await desk.expire(call.context, invoiceId);
      return { invoiceId };
    },
    present: (done) => Promise.resolve(done),
    columns: [{ title: "Invoice", value: (one) => one.invoiceId }],
    identify: (one) => one.invoiceId,
    next: () => "till sandbox mine, or wait for a block: deadlines go by the chain's time",
  }),
  command({
    name: "sandbox mine",
    summary: "Make blocks on the sandbox at once",
    arguments: [{ name: "blocks", description: "how many (1)", isOptional: true }],
    examples: ["till sandbox mine", "till sandbox mine 3 --json"],
    effect: "write-without-trial",
    async handle(desk, call) {
      const blocks = await wholeNumber("blocks", call.optionalArgument("blocks") ?? "1");
      return desk.mine(call.context, blocks);
    },
    present: presentHead,
    columns: [
      { title: "Block", value: (head) => head.blockNumber },
      { title: "Hash", value: (head) => head.blockHash },
    ],
  }),
  command({
    name: "sandbox reorg",
    summary: "Replace the newest blocks of the sandbox by others",
    arguments: [{ name: "depth", description: "how many blocks" }],
    flags: [drop],
    examples: ["till sandbox reorg 2", "till sandbox reorg 3 --drop --json"],
    effect: "write-without-trial",
    async handle(desk, call) {
      const depth = await wholeNumber("blocks", call.argument("depth"));
      return desk.reorganise(call.context, depth, { drop: call.isSet("drop") });
    },
    async present(change) {
      const hashOf = await hashFormatter();
      return {
        ...(await presentHead(change.tip)),
        fromBlockNumber: change.fromHeight,
        transactionHashes: change.transactions.map(hashOf),
      };
    },
    columns: [
      { title: "Replaced from block", value: (change) => change.fromBlockNumber },
      { title: "to block", value: (change) => change.blockNumber },
      { title: "Transactions in them", value: (change) => change.transactionHashes.join(", ") },
    ],
  }),
];

async function presentHead(head: Head) {
  const hashOf = await hashFormatter();
  const { toIso } = await import("../../kernel/clock.ts");
  return {
    blockNumber: head.height,
    blockHash: hashOf(head.hash),
    blockTime: toIso(head.time),
  };
}

/** The sandbox writes hashes as EVM networks do. */
async function hashFormatter(): Promise<(hash: string) => string> {
  const { formatTransactionHash } = await import("../../platform/chain/transaction-hash.ts");
  return (hash) => formatTransactionHash("evm", hash);
}

async function wholeNumber(name: string, text: string): Promise<number> {
  const { InvalidRequest } = await import("../../kernel/errors.ts");
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidRequest(`The number of ${name} must be a whole number from 1 on.`);
}
