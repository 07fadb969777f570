import { commandsOf, neededOrganization } from "../../api/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { OrganizationService } from "./service.ts";
import type { OrganizationRow } from "./table.ts";

const command = commandsOf<OrganizationService>();

const columns = [
  { title: "Late payments", value: (policy: { latePayments: string }) => policy.latePayments },
];

export const paymentPolicyCommands = [
  command({
    name: "payments policy",
    summary: "Show what becomes of payments that are not as they should be",
    flags: [neededOrganization],
    examples: [
      "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (service, call) => service.get(call.flag("organization") as Id<"organization">),
    present,
    columns,
    identify: (policy) => policy.latePayments,
  }),
  command({
    name: "payments set-policy",
    summary: "Set what becomes of payments that are not as they should be",
    flags: [
      neededOrganization,
      {
        flags: "--late-payments <rule>",
        description: "money after an invoice's deadline: accept counts it, review lets it wait",
        ask: "Late payments (accept or review)",
      },
    ],
    examples: [
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments review",
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments accept --yes",
    ],
    effect: "write",
    confirm: (call) =>
      `Set late payments of ${call.flag("organization") ?? ""} to ${call.flag("late-payments") ?? ""}?`,
    async handle(service, call) {
      const { UpdatePaymentPolicyRequest } = await import("./records.ts");
      return service.updatePaymentPolicy(
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(UpdatePaymentPolicyRequest, { latePayments: call.flag("late-payments") }),
        () => undefined,
      );
    },
    present,
    columns,
    identify: (policy) => policy.latePayments,
  }),
];

async function present(row: OrganizationRow) {
  return (await import("./present.ts")).presentPaymentPolicy(row);
}
