import { authenticated, organization } from "../../api/declare/access.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operation } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import {
  createOrganization,
  getOrganization,
  InReview,
  KeyHasNoOwner,
  listOrganizations,
  TooManyUnapproved,
  updateOrganization,
} from "./organizations.ts";
import { updatePaymentPolicy } from "./payment-policy.ts";
import {
  CreateOrganizationRequest,
  OrganizationListRecord,
  OrganizationRecord,
  PaymentPolicyRecord,
  presentOrganization,
  presentPaymentPolicy,
  UpdateOrganizationRequest,
  UpdatePaymentPolicyRequest,
} from "./records.ts";
import type { OrganizationRow } from "./table.ts";
import {
  KybIncomplete,
  organizationChecks,
  submitKyb,
  VerificationConflict,
} from "./verification.ts";

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
    handle: (app, call) => listOrganizations(app, call.actor, call.query),
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
    handle: (app, call) => createOrganization(app, call.context, call.actor, call.body),
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
    handle: (app, call) => getOrganization(app, call.organizationId),
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
    handle: (app, call) =>
      updateOrganization(app, call.context, call.organizationId, call.body, call.expect),
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
    handle: (app, call) => submitKyb(app, call.context, call.organizationId),
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
    handle: (app, call) => getOrganization(app, call.organizationId),
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
    handle: (app, call) =>
      updatePaymentPolicy(app, call.context, call.organizationId, call.body, call.expect),
    present: presentPaymentPolicy,
  }),
];

export const organizationsModule: FeatureModule = {
  operations: organizationOperations,
  checks: organizationChecks,
};
