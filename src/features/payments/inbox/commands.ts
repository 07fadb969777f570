import { transferStatuses } from "./status.ts";
import { claimStates } from "../hash-claims/status.ts";
import { command, neededOrganization, pageFlags } from "../../../http/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import { listClaims, listTransfers } from "./transfers.ts";

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
      const { presentTransfer } = await import("./records.ts");
      return { data: data.map(presentTransfer), nextCursor };
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
      {
        title: "Rejected from",
        // The newest payment that was rejected or reversed: its invoice owes the money to its payer.
        value: ({ allocations }) =>
          allocations.findLast(({ status }) => status === "rejected")?.invoiceId ?? null,
      },
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
