import { platform } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { VerificationConflict } from "../organizations/index.ts";
import { presentOrganizationDetail } from "./present.ts";
import { AdminOrganizationDetailRecord, UpdateOrganizationVerificationRequest } from "./records.ts";
import type { AdminService } from "./service.ts";

const operation = operationsOf<AdminService>();

export const adminOperations = [
  operation({
    id: "adminUpdateOrganizationVerification",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/verification",
    summary: "Approve, reject or request changes of an organization's verification",
    access: platform("platform:write"),
    request: { body: UpdateOrganizationVerificationRequest },
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [VerificationConflict],
    handle: (service, call) => service.decide(call.context, call.params.organizationId, call.body),
    present: presentOrganizationDetail,
  }),
];
