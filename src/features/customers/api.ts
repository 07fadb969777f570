import * as z from "zod";
import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import {
  createCustomer,
  customerChecks,
  ExternalIdTaken,
  getCustomer,
  listCustomers,
  updateCustomer,
} from "./customers.ts";
import {
  CreateCustomerRequest,
  CustomerListRecord,
  CustomerRecord,
  presentCustomer,
  UpdateCustomerRequest,
} from "./records.ts";
import type { CustomerRow } from "./store.ts";

/** The columns of customers in a terminal. */
const columns = ["id", "name", "email", ["externalId", "External ID"], "createdAt"] as const;

const customerOperations = [
  operation({
    id: "listCustomers",
    group: "Customers",
    method: "GET",
    path: "/organizations/{organizationId}/customers",
    summary: "List customers",
    description: "Filters match the whole value; e-mail addresses ignore case.",
    access: organization("customers:read"),
    request: {
      query: {
        ...pageParameters,
        email: z.string().max(254).optional().meta({
          description: "Only customers with exactly this e-mail address. Case is ignored.",
        }),
        externalId: z.string().max(200).optional(),
      },
    },
    response: { status: 200, record: CustomerListRecord },
    errors: [],
    handle: (app, call) => listCustomers(app, call.organizationId, call.query),
    present: (page: Page<CustomerRow>) => mapPage(page, presentCustomer),
    cli: {
      name: "customer list",
      summary: "List an organization's customers, newest first",
      examples: [
        "till customer list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till customer list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --email bo@example.com --json",
      ],
      columns,
    },
  }),
  operation({
    id: "createCustomer",
    group: "Customers",
    method: "POST",
    path: "/organizations/{organizationId}/customers",
    summary: "Create a customer",
    access: organization("customers:write"),
    request: { body: CreateCustomerRequest },
    response: { status: 201, record: CustomerRecord },
    errors: [ExternalIdTaken],
    handle: (app, call) => createCustomer(app, call.context, call.organizationId, call.body),
    present: presentCustomer,
    cli: {
      name: "customer add",
      summary: "Add a customer, to whom invoices can be addressed",
      examples: [
        "till customer add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name 'Bo Jansen' --email bo@example.com",
        "till customer add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name Bo --external-id 4711 --json",
      ],
      flags: { metadata: null },
      columns,
      next: ({ id }) => `till invoice create --customer-id ${id}`,
    },
  }),
  operation({
    id: "getCustomer",
    group: "Customers",
    method: "GET",
    path: "/organizations/{organizationId}/customers/{customerId}",
    summary: "Get a customer",
    access: organization("customers:read"),
    response: { status: 200, record: CustomerRecord },
    errors: [],
    handle: (app, call) => getCustomer(app, call.organizationId, call.params.customerId),
    present: presentCustomer,
  }),
  operation({
    id: "updateCustomer",
    group: "Customers",
    method: "PATCH",
    path: "/organizations/{organizationId}/customers/{customerId}",
    summary: "Update a customer",
    description: "Absent fields remain unchanged; `metadata` is replaced as a whole.",
    access: organization("customers:write"),
    request: { body: UpdateCustomerRequest },
    response: { status: 200, record: CustomerRecord },
    errors: [ExternalIdTaken],
    handle: (app, call) =>
      updateCustomer(
        app,
        call.context,
        call.organizationId,
        call.params.customerId,
        call.body,
        call.expect,
      ),
    present: presentCustomer,
  }),
];

export const customersModule: FeatureModule = {
  operations: customerOperations,
  checks: customerChecks,
};
