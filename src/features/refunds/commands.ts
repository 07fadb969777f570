import {
  command,
  neededReason,
  reasonOf,
  section,
  type CommandCall,
} from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { HeldRefund } from "./records.ts";

export const refundCommands = [
  command({
    name: "refund confirm-held",
    summary: "Confirm a refund that is held because providers contradict each other",
    arguments: [{ name: "refundId", description: "such as rfd_01h…" }],
    flags: [neededReason],
    examples: [
      'till refund confirm-held rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Seen in two explorers"',
      'till refund confirm-held rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Seen in two explorers" --yes --json',
    ],
    effect: "write",
    async look(app, call) {
      const { findHeldRefund } = await import("./verification/examiner.ts");
      const before = await presentHeld(await findHeldRefund(app, idOf(call)));
      return {
        subject: `the refund of ${before.amount} ${before.tokenSymbol} (${before.id}), held since ${before.heldSince}`,
        facts: [
          ["To", `${before.address} on ${before.network}`],
          ["Transaction", before.transactionHash],
          ...before.opinions.map(({ provider, opinion }) => [provider, opinion] as const),
        ],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Confirm ${subject}? Check two block explorers first: the payment page then says that the money was sent.`,
    async handle(app, call) {
      const { confirmHeldRefund } = await import("./verification/examiner.ts");
      return confirmHeldRefund(app, call.context, idOf(call), await reasonOf(call));
    },
    present: presentHeld,
    columns: ["id", "status", "network", "transactionHash", "blockNumber", "heldSince"],
    sections: ({ opinions }) => [
      section({ title: "Providers", items: opinions, columns: ["provider", "opinion"] }),
    ],
  }),
];

function idOf(call: CommandCall): Id<"refund"> {
  return call.argument("refundId") as Id<"refund">;
}

async function presentHeld(held: HeldRefund) {
  return (await import("./records.ts")).presentHeld(held);
}
