import * as z from "zod";
import { organization } from "../../api/declare/access.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { ExternalIdTaken } from "./errors.ts";
import { presentCustomer } from "./present.ts";
import {
  CreateCustomerRequest,
  CustomerListRecord,
  CustomerRecord,
  UpdateCustomerRequest,
} from "./records.ts";
import type { CustomerService } from "./service.ts";
import type { CustomerRow } from "./table.ts";

const operation = operationsOf<CustomerService>();

export const customerOperations = [
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
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: (page: Page<CustomerRow>) => mapPage(page, presentCustomer),
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
    handle: (service, call) => service.create(call.context, call.organizationId, call.body),
    present: presentCustomer,
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
    handle: (service, call) => service.get(call.organizationId, call.params.customerId),
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
    handle: (service, call) =>
      service.update(
        call.context,
        call.organizationId,
        call.params.customerId,
        call.body,
        call.expect,
      ),
    present: presentCustomer,
  }),
];
