import type { App } from "../../../app.ts";
import { commandsOf, type CommandCall, type CommandFlag } from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Head } from "../../../platform/chain/client.ts";
import type { NetworkKind } from "../../../platform/chain/networks.ts";
import { sandboxFaults, wholeNumber } from "./fault-commands.ts";
import { invoiceArgument, sandboxPayments } from "./payment-commands.ts";
import {
  expireOnSandbox,
  mineBlocks,
  reorganizeSandbox,
  simulatedIn,
  waitUntilRead,
} from "./sandbox.ts";

const command = commandsOf<App>();

const drop: CommandFlag = {
  flags: "--drop",
  description: "drop their transactions instead of including them in a later block",
};

/** Blocks of a running chain without the transactions of a reorganization, so that the watcher sees that they are gone. */
const absentBlocks = 3;

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
      const blocks = await wholeNumber("blocks", call.optionalArgument("blocks") ?? "1");
      const head = await mineBlocks(app, call.context, blocks);
      await waitUntilRead(app, head);
      return { kind: simulatedIn(app).network.kind, head };
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
      const options = { drop: call.isSet("drop"), absentBlocks };
      const change = await reorganizeSandbox(app, call.context, await replacedBy(call), options);
      await waitUntilRead(app, change.tip);
      return { kind: simulatedIn(app).network.kind, change, isDropped: options.drop };
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
