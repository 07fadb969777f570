import {
  command,
  neededReason,
  reasonOf,
  section,
  type CommandCall,
  type CommandFlag,
} from "../../../http/declare/command.ts";
import type { PresentedNetwork } from "./present.ts";
import {
  acceptGap,
  acknowledgeAlarms,
  auditBlocks,
  findRefusedGap,
  listNetworkStatuses,
  scanBlocks,
} from "./chain.ts";
import { confirmHeldSubject, findHeldSubject } from "./held.ts";

const networkFlag: CommandFlag = {
  flags: "--network <id>",
  description: "such as tron",
  ask: "The network",
};
const block = (flag: string, description: string): CommandFlag => ({
  flags: `--${flag} <height>`,
  description,
});

export const chainCommands = [
  command({
    name: "chain status",
    summary: "Show the progress, providers and alarms of each network",
    flags: [{ flags: "--probe", description: "ask every provider now" }],
    examples: ["till chain status", "till chain status --probe --json"],
    effect: "read",
    handle: (app, call) => listNetworkStatuses(app, { isLive: call.isSet("probe") }),
    async present(statuses) {
      return (await import("./present.ts")).presentStatus(statuses);
    },
    columns: [
      "network",
      { title: "Read up to", value: (one) => one.tip?.blockNumber ?? null },
      "finalizedBlockNumber",
      ["lagBlocks", "Blocks behind"],
      ["lagSeconds", "Seconds behind"],
      "scannedAt",
      "isWatched",
      "disabledTokens",
    ],
    identify: (one) => one.network,
    sections: ({ data }) => [providerSection(data), limitSection(data), alarmSection(data)],
  }),
  command({
    name: "chain scan",
    summary: "Read blocks again, and enter missing transfers",
    flags: [
      networkFlag,
      { ...block("from", "the first block"), ask: "The first block" },
      { ...block("to", "the last block"), ask: "The last block" },
    ],
    examples: [
      "till chain scan --network tron --from 67000000 --to 67001000",
      "till chain scan --network ethereum --from 21000000 --to 21000000 --json",
    ],
    effect: "write-without-trial",
    async handle(app, call) {
      return scanBlocks(app, call.context, networkOf(call), await rangeOf(call), call.progress);
    },
    async present(report) {
      return (await import("./present.ts")).presentScan(report);
    },
    columns: [
      "network",
      "fromBlockNumber",
      "toBlockNumber",
      "transfersFound",
      ["transfersNew", "Not on record before"],
      ["logsUnreadable", "Unreadable logs"],
    ],
    identify: (one) => one.network,
    sections: ({ newTransfers }) => [
      section({
        title: "Entered now",
        items: newTransfers,
        columns: ["transactionHash", "blockNumber", "amount tokenSymbol", "toAddress"],
      }),
    ],
    next: ({ network: id }) => `till chain audit --network ${id}`,
  }),
  command({
    name: "chain audit",
    summary: "Prove that no block went unread, and show the readings of final blocks",
    flags: [
      networkFlag,
      block("from", "the first block (default: the first one ever read)"),
      block("to", "the last block (default: the newest one read)"),
    ],
    examples: [
      "till chain audit --network tron",
      "till chain audit --network tron --from 67000000 --to 67010000 --json",
    ],
    effect: "read",
    async handle(app, call) {
      const from = await heightOf(call, "from");
      const to = await heightOf(call, "to");
      return auditBlocks(app, call.flag("network") ?? "", {
        ...(from === null ? {} : { from }),
        ...(to === null ? {} : { to }),
      });
    },
    async present(report) {
      return (await import("./present.ts")).presentAudit(report);
    },
    columns: [
      "network",
      "fromBlockNumber",
      "toBlockNumber",
      "finalizedBlockNumber",
      ["witnessedBlockNumber", "Read from two providers up to"],
      "blocksUnread",
      ["blocksReadOnce", "Final blocks read only once"],
    ],
    identify: (one) => one.network,
    sections: ({ gaps, seams, readings, refused }) => [
      section({
        title: "Readings of final blocks",
        items: readings,
        columns: [
          "fromBlockNumber",
          "toBlockNumber",
          "timesRead",
          { title: "Providers", value: (one) => one.providers.length },
          ["readAt", "Last read"],
          ["providers", "Read from"],
        ],
      }),
      section({
        title: "Unread",
        items: gaps,
        columns: ["fromBlockNumber", "toBlockNumber"],
      }),
      section({
        title: "Refused by providers",
        items: refused,
        columns: [
          "fromBlockNumber",
          "toBlockNumber",
          { title: "Refused by", value: (one) => one.refusals.map(({ provider }) => provider) },
          { title: "Last refused", value: (one) => one.refusals.at(-1)?.lastAt ?? null },
          ["acceptedAt", "Accepted as unread"],
          ["acceptedReason", "Because"],
        ],
      }),
      section({
        title: "Read on two chains that part above this block",
        items: seams,
        columns: ["blockNumber"],
      }),
    ],
    async fault({ isComplete, network: id, gaps, seams }) {
      if (isComplete) return null;
      const { BlocksUnread } = await import("../errors.ts");
      const missing = [
        ...gaps.map((gap) => `${String(gap.fromBlockNumber)}–${String(gap.toBlockNumber)}`),
        ...seams.map((seam) => `around ${String(seam.blockNumber)}`),
      ];
      return new BlocksUnread(
        `Missing blocks: ${missing.join(", ")}. ` +
          `Read them with till chain scan --network ${id} --from … --to ….`,
      );
    },
  }),
  command({
    name: "chain acknowledge",
    summary: "Acknowledge alarms that stay open until an operator has checked them",
    flags: [
      networkFlag,
      {
        flags: "--subject <text>",
        description: "only alarms about this subject, as till chain status shows it (default: all)",
      },
    ],
    examples: [
      "till chain acknowledge --network tron",
      "till chain acknowledge --network tron --subject 'blocks 67000000 to 67001999'",
    ],
    effect: "write",
    handle: (app, call) =>
      acknowledgeAlarms(
        app,
        call.context,
        call.flag("network") ?? "",
        call.flag("subject") ?? null,
      ),
    async present(acknowledged) {
      return (await import("./present.ts")).presentAcknowledged(acknowledged);
    },
    async look(app, call) {
      const id = call.flag("network") ?? "";
      const { presentStatus } = await import("./present.ts");
      const { data } = presentStatus(await listNetworkStatuses(app, { isLive: false }));
      const open = data.find(({ network }) => network === id)?.alarms.length ?? 0;
      return {
        subject: `${id}, ${String(open)} alarms`,
        changes: ({ acknowledged }) => [["Open alarms", open, open - acknowledged.length]],
      };
    },
    columns: ["network", { title: "Acknowledged", value: (one) => one.acknowledged.length }],
    identify: (one) => one.network,
    sections: ({ network: id, acknowledged }) => [
      alarmSection([{ network: id, alarms: acknowledged }]),
    ],
    next: () => "till chain status",
  }),
  command({
    name: "chain accept-gap",
    summary: "Give up blocks that no provider reads any more: payments in them are not seen",
    flags: [
      networkFlag,
      { ...block("from", "the first block"), ask: "The first block" },
      { ...block("to", "the last block"), ask: "The last block" },
      neededReason,
    ],
    examples: [
      'till chain accept-gap --network tron --from 67000000 --to 67001000 --reason "Pruned by both providers"',
      'till chain accept-gap --network tron --from 67000000 --to 67001000 --reason "Pruned" --yes --json',
    ],
    effect: "write",
    async handle(app, call) {
      const range = await rangeOf(call);
      return acceptGap(app, call.context, networkOf(call), range, await reasonOf(call));
    },
    async present(asked) {
      return (await import("./present.ts")).presentAcceptedGap(asked);
    },
    async look(app, call) {
      const { from, to, parts } = await findRefusedGap(app, networkOf(call), await rangeOf(call));
      const refusals = parts.flatMap((part) => part.refusals);
      const words = refusals.map(({ provider, reason }) => `${provider}: ${reason}`);
      return {
        subject: `${networkOf(call)}, ${String(to - from + 1)} blocks`,
        facts: [["Refusals", [...new Set(words)].join("; ")]],
        changes: () => [["Blocks", "unread", "given up"]],
      };
    },
    confirm: (_call, subject) =>
      `Give up ${subject}? Payments in them are not seen, and invoices that waited for them end. Transactions that payers ` +
      "submit are still examined.",
    columns: ["network", "fromBlockNumber", "toBlockNumber", "blocks"],
    identify: (one) => one.network,
    sections: ({ refused }) => [
      section({
        title: "Refusals",
        items: refused.flatMap(({ refusals }) => refusals),
        columns: ["provider", "reason", "since", ["lastAt", "Last refused"]],
      }),
    ],
    next: ({ network: id }) => `till chain audit --network ${id}`,
  }),
  command({
    name: "payments confirm-held",
    summary: "Confirm a payment or transfer that is held because a provider does not know it",
    arguments: [
      {
        name: "held",
        description: "the payment or transfer of the alarm, such as pay_01h… or trf_01h…",
      },
    ],
    flags: [neededReason],
    examples: [
      'till payments confirm-held pay_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Bridge deposit, seen in two explorers"',
      'till payments confirm-held trf_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Seen in two explorers" --yes --json',
    ],
    effect: "write",
    async handle(app, call) {
      return confirmHeldSubject(app, call.context, call.argument("held"), await reasonOf(call));
    },
    async present(held) {
      return (await import("./present.ts")).presentHeld(held);
    },
    async look(app, call) {
      const { presentHeld } = await import("./present.ts");
      const before = presentHeld(await findHeldSubject(app, call.argument("held")));
      return {
        subject: `${before.id}, held since ${before.heldSince}`,
        facts: [
          ["Network", before.network],
          ["Transaction", before.transactionHash],
          ...before.opinions.map(({ provider, opinion }) => [provider, opinion] as const),
        ],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Confirm ${subject}? Check a block explorer first: a payment counts for its invoice, which ships once it is paid.`,
    columns: ["id", "network", "status", "transactionHash", "blockNumber", "heldSince"],
    sections: ({ opinions }) => [
      section({ title: "Providers", items: opinions, columns: ["provider", "opinion"] }),
    ],
  }),
];

function providerSection(networks: readonly PresentedNetwork[]) {
  return section({
    title: "Providers",
    items: networks.flatMap(({ network, providers }) =>
      providers.map((provider) => ({ network, ...provider })),
    ),
    columns: [
      "network",
      "provider",
      "isInUse",
      "condition",
      "checkedAgainAt",
      ["lagBlocks", "Blocks behind"],
      "latencyMs",
      { title: "Errors", value: (one) => `${String(one.errorPercent)} %` },
      { title: "Dropped parts of answers", value: droppedText },
      "requestsToday",
      { title: "Last error", value: (one) => one.lastError?.message ?? null },
    ],
  });
}

/** Returns the counts of dropped parts, such as `3 pending_log`; null if there are none. */
function droppedText({ dropped }: { readonly dropped: Readonly<Record<string, number>> }) {
  const counts = Object.entries(dropped).map(([part, count]) => `${String(count)} ${part}`);
  return counts.length === 0 ? null : counts.join(", ");
}

function limitSection(networks: readonly PresentedNetwork[]) {
  return section({
    title: "Limits that providers' refusals showed",
    items: networks.flatMap(({ network, providers }) =>
      providers.flatMap(({ provider, limits }) =>
        limits.map((limit) => ({ network, provider, ...limit })),
      ),
    ),
    columns: [
      "network",
      "provider",
      ["part", "Limited"],
      ["most", "Asked for at most"],
      ["refusedSize", "Refused"],
      ["triedAt", "Last tried"],
      ["words", "In its words"],
    ],
  });
}

function alarmSection(networks: readonly Pick<PresentedNetwork, "network" | "alarms">[]) {
  return section({
    title: "Alarms",
    items: networks.flatMap(({ network, alarms }) =>
      alarms.map((alarm) => ({ network, ...alarm })),
    ),
    columns: ["network", "raisedAt", "kind", "subject", "message"],
  });
}

function networkOf(call: CommandCall): string {
  return call.flag("network") ?? "";
}

async function rangeOf(call: CommandCall): Promise<{ readonly from: number; readonly to: number }> {
  return { from: (await heightOf(call, "from")) ?? 0, to: (await heightOf(call, "to")) ?? 0 };
}

/** Returns the block height in a flag; null if the flag is absent. */
async function heightOf(call: CommandCall, flag: "from" | "to"): Promise<number | null> {
  const text = call.flag(flag);
  if (text === undefined) return null;
  if (/^(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  throw new InvalidRequest(`--${flag} must be a block height: a whole number, 0 or greater.`);
}
