import { defineProblem } from "../../kernel/errors.ts";

export const AuditChainBroken = defineProblem({
  code: "audit_chain_broken",
  status: 422,
  title: "The hash chain of the audit log is broken",
});
