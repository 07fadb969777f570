import type { App } from "../../../app.ts";
import { commandsOf, type Column, type CommandArgument } from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import {
  getSandboxBill,
  payOnSandbox,
  payTogetherOnSandbox,
  playScenario,
  sendOnSandbox,
  simulatedIn,
  type SandboxBill,
  type SandboxScenario,
  type SentPayment,
} from "./sandbox.ts";

const command = commandsOf<App>();

/** An invoice that the sandbox pays or changes. */
export const invoiceArgument: CommandArgument = {
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

type Payment = Awaited<ReturnType<typeof presentPayment>>;

/** A block that is not made yet. */
const dueColumn = ["blockNumber", "Due in block"] as const;

const paymentColumns: readonly Column<Payment>[] = [
  "invoiceId",
  "amount tokenSymbol",
  "transactionHash",
  dueColumn,
];

export const sandboxPayments = [
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
        .map((given, place) => parseMoneyField(`/amounts/${String(place)}`, given, asset));
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
