import {
  command,
  section,
  type Column,
  type CommandArgument,
  type CommandCall,
  type CommandFlag,
} from "../../../http/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Head } from "../../../platform/chain/client.ts";
import type { Network, NetworkKind } from "../../../platform/chain/networks.ts";
import type { SandboxFault } from "../../../platform/chain/sandbox/chain.ts";
import {
  disturbProviders,
  expireOnSandbox,
  getSandboxBill,
  healProviders,
  mineBlocks,
  payOnSandbox,
  payTogetherOnSandbox,
  playScenario,
  reorganizeSandbox,
  sendOnSandbox,
  simulatedIn,
  waitUntilRead,
  type SandboxBill,
  type SandboxScenario,
  type SentPayment,
} from "./sandbox.ts";

const drop: CommandFlag = {
  flags: "--drop",
  description: "drop their transactions instead of including them in a later block",
};

/** Blocks of a running chain without the transactions of a reorganization, so that the watcher sees that they are gone. */
const absentBlocks = 3;

/**
 * How long after the end of a failure a provider may stay excluded, in minutes: five until the next check of its logs,
 * and one for the schedule of these checks.
 */
const aftermathMinutes = 6;

const faults: readonly (readonly [SandboxFault, string])[] = [
  ["stall", "Make all providers of the sandbox time out for a while"],
  ["refuse", "Make the first provider refuse requests for a while, as if a rate limit was reached"],
  ["silence", "Make the first provider return no logs for a while, as if nobody had paid"],
  ["contradict", "Make the first provider report every transaction as failed for a while"],
];

const sandboxFaults = [
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
      async handle(app, call) {
        simulatedIn(app);
        const seconds = call.optionalArgument("seconds") ?? "60";
        const forMs = seconds === "0" ? 0 : (await wholeNumber("seconds", seconds)) * 1_000;
        return { fault, until: await disturbProviders(app, call.context, fault, forMs) };
      },
      async present({ fault: shown, until }) {
        const { minute, toIso } = await import("../../../kernel/clock.ts");
        const feltUntil = toIso(until + aftermathMinutes * minute);
        return { fault: shown, until: toIso(until), feltUntil };
      },
      columns: ["until", ["feltUntil", "Felt until at the latest"]],
      identify: (one) => one.fault,
      next: ({ feltUntil }) =>
        `till sandbox heal ends it at once. Otherwise payments of all invoices may stay confirming, and late ones count as in time, until ${feltUntil} at the latest`,
    }),
  ),
  command({
    name: "sandbox heal",
    summary: "End all failures of the sandbox's providers, and check the providers at once",
    examples: ["till sandbox heal", "till sandbox heal --json"],
    effect: "write-without-trial",
    handle: (app, call) => healProviders(app, call.context),
    async present({ isChecked, providers }) {
      const { presentProvider } = await import("../networks/present.ts");
      return { isChecked, providers: providers.map(presentProvider) };
    },
    columns: [["isChecked", "Checked by the server"]],
    sections: ({ providers }) => [
      section({
        title: "Providers",
        items: providers,
        columns: ["provider", "isInUse", "condition", "checkedAgainAt"],
      }),
    ],
    identify: ({ providers }) => providers.map(({ provider }) => provider).join("\n"),
    next: ({ isChecked }) =>
      isChecked
        ? "till sandbox mine: payments that waited are verified with the next blocks"
        : "till chain status, until a server has checked the providers",
  }),
];

/** An invoice that the sandbox pays or changes. */
const invoiceArgument: CommandArgument = {
  name: "invoiceId",
  description: "such as inv_01h…, or your externalId",
};

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

const nextOfPayment =
  "till sandbox mine 3, or wait for the blocks that confirm it; then poll, because webhooks leave some seconds later";

/** A block that is not made yet. */
const dueColumn = ["blockNumber", "Due in block"] as const;

const paymentColumns: readonly Column<Payment>[] = [
  "invoiceId",
  "amount tokenSymbol",
  "transactionHash",
  dueColumn,
];

const sandboxPayments = [
  command({
    name: "sandbox pay",
    summary: "Pay an invoice on the sandbox as its payer would",
    arguments: [invoiceArgument],
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
    async handle(app, call) {
      const { parseMoneyField, tokenAsset } = await import("../../../kernel/money/money.ts");
      const bill = await getSandboxBill(app, call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const given = call.flag("amount");
      const units =
        given === undefined ? bill.remaining : parseMoneyField("/amount", given, asset).units;
      const transaction = await payOnSandbox(app, call.context, bill.invoiceId, units);
      return { bill, payment: { transaction, amount: units }, network: simulatedIn(app).network };
    },
    present: ({ bill, payment, network }) => presentPayment(network, bill, payment),
    columns: paymentColumns,
    next: () => nextOfPayment,
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
    async handle(app, call) {
      const token = call.flag("token") ?? "USDT";
      const amount = call.argument("amount");
      const from = call.flag("from") ?? "";
      const given = { from, to: call.argument("to"), token, amount };
      const transaction = await sendOnSandbox(app, call.context, given);
      return { given, transaction, network: simulatedIn(app).network };
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
    columns: ["amount tokenSymbol", "fromAddress", "toAddress", "transactionHash", dueColumn],
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
    async handle(app, call) {
      const { parseMoneyField, tokenAsset } = await import("../../../kernel/money/money.ts");
      const bill = await getSandboxBill(app, call.argument("invoiceId") as Id<"invoice">);
      const asset = tokenAsset(bill.token, bill.tokenDecimals);
      const amounts = (call.flag("amounts") ?? "")
        .split(",")
        .map((given, index) => parseMoneyField(`/amounts/${String(index)}`, given, asset));
      const units = amounts.map((each) => each.units);
      const transaction = await payTogetherOnSandbox(app, call.context, bill.invoiceId, units);
      return { bill, transaction, amounts, network: simulatedIn(app).network };
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
      dueColumn,
    ],
    identify: (sent) => sent.transactionHash,
    next: () => nextOfPayment,
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
      async handle(app, call) {
        const invoiceId = call.argument("invoiceId") as Id<"invoice">;
        const played = await playScenario(app, call.context, invoiceId, scenario);
        return { ...played, network: simulatedIn(app).network };
      },
      async present({ bill, sent, network }) {
        const data = await Promise.all(sent.map((one) => presentPayment(network, bill, one)));
        return { data, nextCursor: null };
      },
      columns: paymentColumns,
      identify: (one) => one.transactionHash,
      next: () => nextOfScenario(scenario),
    }),
  ),
];

export const sandboxCommands = [
  ...sandboxPayments,
  ...sandboxFaults,
  command({
    name: "sandbox expire",
    summary: "Expire an invoice now",
    arguments: [invoiceArgument],
    examples: [
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till sandbox expire inv_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write-without-trial",
    async handle(app, call) {
      const invoiceId = call.argument("invoiceId") as Id<"invoice">;
      await expireOnSandbox(app, call.context, invoiceId);
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
    async handle(app, call) {
      const { kind } = simulatedIn(app).network;
      const blocks = await wholeNumber("blocks", call.optionalArgument("blocks") ?? "1");
      const head = await mineBlocks(app, call.context, blocks);
      await waitUntilRead(app, head);
      return { kind, head };
    },
    present: ({ kind, head }) => presentHead(kind, head),
    columns: ["blockNumber", ["blockHash", "Hash"]],
    next: () =>
      "poll your shop: the server has read these blocks, if one runs, and sends webhooks within seconds",
  }),
  command({
    name: "sandbox reorg",
    summary: "Replace the newest blocks of the sandbox",
    arguments: [
      {
        ...invoiceArgument,
        description:
          "such as inv_01h…, or your externalId: the blocks from its newest payment on are replaced",
        isOptional: true,
      },
    ],
    flags: [
      {
        flags: "--blocks <number>",
        description: "the number of newest blocks, instead of an invoice",
      },
      drop,
    ],
    examples: [
      "till sandbox reorg inv_01kq3v5m8w2f6n9r4t7x0z1c3e --drop",
      "till sandbox reorg --blocks 2 --json",
    ],
    effect: "write-without-trial",
    async handle(app, call) {
      const { kind } = simulatedIn(app).network;
      const options = { drop: call.isSet("drop"), absentBlocks };
      const change = await reorganizeSandbox(app, call.context, await replacedBy(call), options);
      await waitUntilRead(app, change.tip);
      return { kind, change, isDropped: options.drop };
    },
    async present({ kind, change, isDropped }) {
      return {
        ...(await presentHead(kind, change.tip)),
        fromBlockNumber: change.fromHeight,
        transactionHashes: change.transactions.map((hash) => kind.formatTransactionHash(hash)),
        isDropped,
      };
    },
    columns: [
      ["fromBlockNumber", "Replaced from block"],
      ["blockNumber", "To block"],
      {
        title: "Transactions",
        value: ({ transactionHashes: hashes, isDropped }) =>
          hashes.length === 0 ? null : `${isDropped ? "lost" : "come again"}: ${hashes.join(", ")}`,
      },
    ],
    next({ transactionHashes, isDropped }) {
      if (transactionHashes.length === 0) {
        return "till sandbox reorg inv_…, because these blocks had no transfer: it replaces those of a payment";
      }
      return isDropped
        ? "till sandbox pay inv_… pays again; the dropped transactions do not come back"
        : "till sandbox mine 3 includes the transactions again";
    },
  }),
];

/** Returns the invoice, or the number of blocks, that a reorganization names. Throws InvalidRequest unless it is one of them. */
async function replacedBy(call: CommandCall): Promise<Id<"invoice"> | number> {
  const invoiceId = call.optionalArgument("invoiceId") as Id<"invoice"> | undefined;
  const blocks = call.flag("blocks");
  if (invoiceId !== undefined && blocks === undefined) return invoiceId;
  if (invoiceId === undefined && blocks !== undefined) return wholeNumber("blocks", blocks);
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  throw new InvalidRequest(
    "Name either an invoice, from whose newest payment on blocks are replaced, or the number of the newest blocks with --blocks.",
  );
}

async function presentHead(kind: NetworkKind, head: Head) {
  const { toIso } = await import("../../../kernel/clock.ts");
  return {
    blockNumber: head.height,
    blockHash: kind.formatBlockHash(head.hash),
    blockTime: toIso(head.time),
  };
}

/** Parses a number of blocks or seconds in an argument. Throws InvalidRequest. */
async function wholeNumber(name: string, text: string): Promise<number> {
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidRequest(`The number of ${name} must be a whole number from 1 to 999,999,999.`);
}

type Payment = Awaited<ReturnType<typeof presentPayment>>;

function nextOfScenario(scenario: SandboxScenario): string {
  if (scenario === "lie") {
    return "till sandbox mine 3: the invoice stays confirming, because the providers disagree. till sandbox heal takes the payment back";
  }
  return uncounted.has(scenario)
    ? "nothing comes of it: the invoice stays as it is, and has no event"
    : nextOfPayment;
}

async function presentPayment(
  network: Network,
  bill: SandboxBill,
  { transaction, amount }: SentPayment,
) {
  const { formatMoney, tokenAsset } = await import("../../../kernel/money/money.ts");
  const { kind } = network;
  return {
    invoiceId: bill.invoiceId,
    network: network.id,
    tokenSymbol: bill.token,
    amount: formatMoney({ units: amount, asset: tokenAsset(bill.token, bill.tokenDecimals) }),
    fromAddress: kind.formatAddress(transaction.from),
    transactionHash: kind.formatTransactionHash(transaction.transactionHash),
    blockNumber: transaction.blockHeight,
  };
}
