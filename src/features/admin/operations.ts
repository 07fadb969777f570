import { platform } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { VerificationConflict } from "../organizations/verification.ts";
import { presentOrganizationDetail, presentOrganizations } from "./present.ts";
import {
  AdminOrganizationDetailRecord,
  AdminOrganizationListRecord,
  organizationQuery,
  UpdateOrganizationVerificationRequest,
} from "./records.ts";
import type { AdminService } from "./service.ts";

const operation = operationsOf<AdminService>();

export const adminOperations = [
  operation({
    id: "adminListOrganizations",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations",
    summary: "List organizations",
    description:
      "`search` matches part of a name or of the contact's e-mail address, ignoring case, or a complete id.",
    access: platform("platform:read"),
    request: { query: organizationQuery },
    response: { status: 200, record: AdminOrganizationListRecord },
    errors: [],
    handle: (service, call) => service.listOrganizations(call.query),
    present: presentOrganizations,
  }),
  operation({
    id: "adminGetOrganization",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}",
    summary: "Get an organization with its members, wallets and reviews",
    access: platform("platform:read"),
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [],
    handle: (service, call) => service.getOrganization(call.params.organizationId),
    present: presentOrganizationDetail,
  }),
  operation({
    id: "adminUpdateOrganizationVerification",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/verification",
    summary: "Approve, reject or request changes of an organization's verification",
    description:
      "An approval also shows the pending display name and the pending logo to payers. While an approved organization has one of them, `approve` and `reject` decide on them, and the organization stays approved. With `If-Match` and the ETag of the organization as read, the decision applies only to that version; if it was changed or decided in the meantime, the response is 412.",
    access: platform("platform:write"),
    request: { body: UpdateOrganizationVerificationRequest },
    response: { status: 200, record: AdminOrganizationDetailRecord },
    errors: [VerificationConflict],
    conditional: true,
    handle: (service, call) =>
      service.decide(call.context, call.params.organizationId, call.body, call.expect),
    present: presentOrganizationDetail,
  }),
];
