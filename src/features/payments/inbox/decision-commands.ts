import { commandsOf, neededOrganization } from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PaymentDecisions } from "./decide-payment.ts";

const command = commandsOf<PaymentDecisions>();

export const decisionCommands = [
  command({
    name: "payments reverse",
    summary: "Reverse a payment that was assigned to the wrong invoice",
    arguments: [{ name: "paymentId", description: "such as pay_01h…" }],
    flags: [neededOrganization],
    examples: [
      "till payments reverse pay_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments reverse pay_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    async look(service, call) {
      const { presentPayment } = await import("../present-payment.ts");
      const before = presentPayment(
        await service.get(
          call.flag("organization") as Id<"organization">,
          call.argument("paymentId") as Id<"payment">,
        ),
      );
      return {
        subject: `${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
        facts: [
          ["Invoice", before.invoiceId],
          ["From", `${before.fromAddress} on ${before.network}`],
          ["Counts as", `${before.settlementAmount} ${before.settlementCurrency}`],
        ],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Reverse ${subject}? It will no longer count for its invoice, and its amount returns to the inbox.`,
    handle: (service, call) =>
      service.reverse(
        call.context,
        call.flag("organization") as Id<"organization">,
        call.argument("paymentId") as Id<"payment">,
      ),
    async present(view) {
      return (await import("../present-payment.ts")).presentPayment(view);
    },
    columns: ["id", "invoiceId", "amount tokenSymbol", "status", "transactionHash"],
  }),
];
