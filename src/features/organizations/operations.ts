import { authenticated, organization } from "../../api/declare/access.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import {
  InReview,
  KeyHasNoOwner,
  KybIncomplete,
  TooManyUnapproved,
  VerificationConflict,
} from "./errors.ts";
import { presentOrganization, presentPaymentPolicy } from "./present.ts";
import {
  CreateOrganizationRequest,
  OrganizationListRecord,
  OrganizationRecord,
  PaymentPolicyRecord,
  UpdateOrganizationRequest,
  UpdatePaymentPolicyRequest,
} from "./records.ts";
import type { OrganizationService } from "./service.ts";
import type { OrganizationRow } from "./table.ts";

const operation = operationsOf<OrganizationService>();

export const organizationOperations = [
  operation({
    id: "listOrganizations",
    group: "Organizations",
    method: "GET",
    path: "/organizations",
    summary: "List your organizations",
    description:
      "A user gets the organizations of which they are a member; an API key gets its own.",
    access: authenticated("organization:read"),
    request: { query: pageParameters },
    response: { status: 200, record: OrganizationListRecord },
    errors: [],
    handle: (service, call) => service.list(call.actor, call.query),
    present: (page: Page<OrganizationRow>) => mapPage(page, presentOrganization),
  }),
  operation({
    id: "createOrganization",
    group: "Organizations",
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    description: "The caller becomes the owner; with an API key, the user who created the key.",
    access: authenticated("organizations:create"),
    request: { body: CreateOrganizationRequest },
    response: { status: 201, record: OrganizationRecord },
    errors: [KeyHasNoOwner, TooManyUnapproved],
    handle: (service, call) => service.create(call.context, call.actor, call.body),
    present: presentOrganization,
  }),
  operation({
    id: "getOrganization",
    group: "Organizations",
    method: "GET",
    path: "/organizations/{organizationId}",
    summary: "Get an organization",
    access: organization("organization:read"),
    response: { status: 200, record: OrganizationRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId),
    present: presentOrganization,
  }),
  operation({
    id: "updateOrganization",
    group: "Organizations",
    method: "PATCH",
    path: "/organizations/{organizationId}",
    summary: "Update an organization's profile and legal fields",
    description:
      "Legal fields, the display name and the logo cannot be changed during the review. Changing one in an approved organization resets it to `unverified`, which only stops the issuing of invoices.",
    access: organization("organization:write"),
    request: { body: UpdateOrganizationRequest },
    response: { status: 200, record: OrganizationRecord },
    errors: [InReview],
    handle: (service, call) =>
      service.update(call.context, call.organizationId, call.body, call.expect),
    present: presentOrganization,
  }),
  operation({
    id: "submitOrganizationKyb",
    group: "Organizations",
    method: "POST",
    path: "/organizations/{organizationId}/kyb/submit",
    summary: "Submit an organization for review",
    access: organization("organization:write"),
    response: { status: 200, record: OrganizationRecord },
    errors: [KybIncomplete, VerificationConflict],
    handle: (service, call) => service.submitKyb(call.context, call.organizationId),
    present: presentOrganization,
  }),
  operation({
    id: "getPaymentPolicy",
    group: "Organizations",
    method: "GET",
    path: "/organizations/{organizationId}/payment-policy",
    summary: "Get how late payments are handled, and which tokens invoices offer",
    access: organization("organization:read"),
    response: { status: 200, record: PaymentPolicyRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId),
    present: presentPaymentPolicy,
  }),
  operation({
    id: "updatePaymentPolicy",
    group: "Organizations",
    method: "PATCH",
    path: "/organizations/{organizationId}/payment-policy",
    summary: "Set how late payments are handled, and which tokens invoices offer",
    description: "Applies to future payments and invoices; earlier decisions remain.",
    access: organization("organization:write"),
    request: { body: UpdatePaymentPolicyRequest },
    response: { status: 200, record: PaymentPolicyRecord },
    errors: [],
    handle: (service, call) =>
      service.updatePaymentPolicy(call.context, call.organizationId, call.body, call.expect),
    present: presentPaymentPolicy,
  }),
];
