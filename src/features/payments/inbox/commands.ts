import type { App } from "../../../app.ts";
import { transferStatuses, waitingReasonWords } from "./status.ts";
import { claimStates } from "../hash-claims/status.ts";
import {
  command,
  neededOrganization,
  pageFlags,
  section,
  type Column,
  type CommandArgument,
  type CommandCall,
  type Looked,
} from "../../../http/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import { allocateTransfer, ignoreTransfer, unignoreTransfer } from "./allocation.ts";
import type { TransferView } from "./records.ts";
import { getTransfer, listClaims, listTransfers, ownerOfTransfer } from "./transfers.ts";

type Shown = Awaited<ReturnType<typeof present>>;

const transferId: CommandArgument = { name: "transferId", description: "such as trf_01h…" };

const outcome: readonly Column<Shown>[] = [
  "id",
  "status",
  {
    title: "Waits because",
    value: ({ waitingReason: reason }) => (reason == null ? null : waitingReasonWords[reason]),
  },
  "amount tokenSymbol",
  "unallocatedAmount tokenSymbol",
  "network",
  "fromAddress",
  "toAddress",
  "transactionHash",
  "blockTime",
  "confirmations",
  ["isVerified", "Verified"],
];

const sections = (one: Shown) => [
  section({
    title: "Payments",
    items: one.allocations,
    columns: [
      "paymentId",
      "invoiceId",
      { title: "Amount", value: (each) => `${each.amount} ${one.tokenSymbol}` },
      "status",
      "rule",
    ],
  }),
  section({
    title: "Suggestions",
    items: one.suggestions,
    columns: [
      "invoiceId",
      { title: "Asks for", value: (each) => `${each.remainingAmount} ${one.tokenSymbol}` },
      ["invoiceStatus", "Status"],
      "reasons",
    ],
  }),
  section({
    title: "Decisions",
    items: one.decisions,
    columns: [
      "createdAt",
      "decision",
      { title: "Amount", value: (each) => `${each.amount} ${one.tokenSymbol}` },
      "actorLabel",
    ],
  }),
];

export const transferCommands = [
  command({
    name: "payments inbox",
    summary: "Decide about the transfers to an organization's addresses that count for no invoice",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "unmatched (the default), matched, ignored, reverted, or all",
        choices: [...transferStatuses, "all"],
      },
      { flags: "--list", description: "only list them, without asking about each at a terminal" },
      ...pageFlags,
    ],
    isWatched: true,
    examples: [
      "till payments inbox --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments inbox --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status all --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { TransferQuery } = await import("./records.ts");
      const query = call.parse(TransferQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        status: call.flag("status") ?? "unmatched",
      });
      return listTransfers(app, call.flag("organization") as Id<"organization">, query);
    },
    async present({ data, nextCursor }) {
      return { data: await Promise.all(data.map(present)), nextCursor };
    },
    columns: [
      "id",
      "status",
      "amount tokenSymbol",
      "unallocatedAmount",
      "network",
      "fromAddress",
      "blockTime",
      ["isVerified", "Verified"],
      ["waitingReason", "Waits because"],
      { title: "Rejected from", value: (one) => rejectedFrom(one)?.invoiceId ?? null },
      {
        title: "Suggestion",
        value: ({ suggestions: [first] }) =>
          first === undefined ? null : `${first.invoiceId} (${first.reasons.join(", ")})`,
      },
    ],
    async interact(app, call, { data }, person) {
      const { triage } = await import("./triage.ts");
      const waiting = data.filter(({ status }) => status === "unmatched");
      const owner = call.flag("organization") as Id<"organization">;
      const ids = waiting.map(({ id }) => id as Id<"transfer">);
      if (ids.length > 0) await triage(app, call, owner, ids, person);
    },
  }),
  command({
    name: "payments transfer",
    summary: "Show a transfer with its payments, suggested invoices and decisions",
    arguments: [transferId],
    examples: [
      "till payments transfer trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments transfer trf_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: async (app, call) => getTransfer(app, await ownerOf(app, call), idOf(call)),
    present,
    columns: outcome,
    sections,
  }),
  command({
    name: "payments allocate",
    summary: "Allocate a transfer to invoices, in full or in parts",
    arguments: [
      transferId,
      {
        name: "allocations",
        description:
          "<invoice>=<amount>, by its id or your externalId; one may omit the amount and gets the rest",
        isMany: true,
        takes: ["invoice"],
      },
    ],
    examples: [
      "till payments allocate trf_01kq3v5m8w2f6n9r4t7x0z1c3e inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments allocate trf_01kq3v5m8w2f6n9r4t7x0z1c3e inv_01kq3v5m8w2f6n9r4t7x0z1c3e=20.00 inv_01kq3v5m8w2f6n9r4t7x0z1c3f=5.00 --dry-run",
    ],
    effect: "write",
    look,
    confirm: (call, subject) =>
      `Allocate ${subject}, to ${call.argument("allocations")}? It will count as paid.`,
    async handle(app, call) {
      const owner = await ownerOf(app, call);
      const { AllocateTransferRequest } = await import("./records.ts");
      const { allocations } = call.parse(AllocateTransferRequest, {
        allocations: await allocationsOf(app, owner, call),
      });
      return allocateTransfer(app, call.context, owner, idOf(call), allocations);
    },
    present,
    columns: outcome,
    sections,
  }),
  command({
    name: "payments ignore",
    summary: "Ignore the unallocated part of a transfer",
    arguments: [transferId],
    examples: [
      "till payments ignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments ignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    look,
    confirm: (_call, subject) => `Ignore ${subject}? It will leave the inbox.`,
    handle: async (app, call) =>
      ignoreTransfer(app, call.context, await ownerOf(app, call), idOf(call)),
    present,
    columns: outcome,
    next: (one) => `till payments unignore ${one.id} returns it to the inbox`,
  }),
  command({
    name: "payments unignore",
    summary: "Return an ignored transfer to the inbox",
    arguments: [transferId],
    examples: [
      "till payments unignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments unignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write",
    look,
    handle: async (app, call) =>
      unignoreTransfer(app, call.context, await ownerOf(app, call), idOf(call)),
    present,
    columns: outcome,
    sections,
  }),
  command({
    name: "payments claims",
    summary: "List the transactions that payers submitted, with their results",
    flags: [
      neededOrganization,
      {
        flags: "--state <state>",
        description: "only those whose search is waiting, or ended as credited, review or refused",
        choices: claimStates,
      },
      ...pageFlags,
    ],
    examples: [
      "till payments claims --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments claims --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --state refused --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { ClaimQuery } = await import("./records.ts");
      const query = call.parse(ClaimQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        state: call.flag("state"),
      });
      return listClaims(app, call.flag("organization") as Id<"organization">, query);
    },
    async present({ data, nextCursor }) {
      const { presentClaim } = await import("./records.ts");
      return { data: data.map(presentClaim), nextCursor };
    },
    columns: ["id", "invoiceId", "network", "transactionHash", "result", "reason", "createdAt"],
  }),
];

async function look(app: App, call: CommandCall): Promise<Looked<Shown>> {
  const before = await present(await getTransfer(app, await ownerOf(app, call), idOf(call)));
  return {
    subject: `${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["From", `${before.fromAddress} on ${before.network}`],
      ["Transaction", before.transactionHash],
    ],
    before,
  };
}

function idOf(call: CommandCall): Id<"transfer"> {
  return call.argument("transferId") as Id<"transfer">;
}

function ownerOf(app: App, call: CommandCall): Promise<Id<"organization">> {
  return ownerOfTransfer(app, idOf(call));
}

const allocationForm = /^(inv_\w+)(?:=(.*))?$/;

/** Parses `<invoiceId>=<amount>` arguments. One may omit the amount and gets the rest. */
async function allocationsOf(
  app: App,
  owner: Id<"organization">,
  call: CommandCall,
): Promise<{ invoiceId: string; amount: string }[]> {
  const given = call.argument("allocations").split(" ");
  const { InvalidRequest } = await import("../../../kernel/errors.ts");
  const parts = given.map((text) => {
    const [, invoiceId, amount] = allocationForm.exec(text) ?? [];
    if (invoiceId !== undefined) return { invoiceId, amount };
    throw new InvalidRequest(
      `${JSON.stringify(text)} is not an invoice with an amount, such as inv_…=12.50, or inv_… alone for the rest.`,
    );
  });
  const open = parts.filter(({ amount }) => amount === undefined);
  if (open.length === 0) {
    return parts.map(({ invoiceId, amount = "" }) => ({ invoiceId, amount }));
  }
  if (open.length > 1) {
    throw new InvalidRequest("Only one invoice may omit its amount: it gets the rest.");
  }
  const { restOf } = await import("./allocation-rules.ts");
  const view = await getTransfer(app, owner, idOf(call));
  const rest = restOf(
    view,
    parts.flatMap(({ amount }) => amount ?? []),
  );
  return parts.map(({ invoiceId, amount }) => ({ invoiceId, amount: amount ?? rest }));
}

/** Returns the newest payment that was rejected or reversed: its invoice owes the money to its payer. */
function rejectedFrom({ allocations }: Shown): Shown["allocations"][number] | undefined {
  return allocations.findLast(({ status }) => status === "rejected");
}

async function present(view: TransferView) {
  return (await import("./records.ts")).presentTransfer(view);
}
