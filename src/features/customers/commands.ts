import { commandsOf, neededOrganization, pageFlags } from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { CustomerService } from "./service.ts";

const command = commandsOf<CustomerService>();

export const customerCommands = [
  command({
    name: "customer list",
    summary: "List an organization's customers, newest first",
    flags: [
      neededOrganization,
      { flags: "--email <address>", description: "only those with this e-mail address" },
      {
        flags: "--external-id <text>",
        description: "the customer with this id from your own system",
      },
      ...pageFlags,
    ],
    examples: [
      "till customer list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till customer list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --email bo@example.com --json",
    ],
    effect: "read",
    handle: (service, call) =>
      service.list(call.flag("organization") as Id<"organization">, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        email: call.flag("email"),
        externalId: call.flag("external-id"),
      }),
    async present({ data, nextCursor }) {
      const { presentCustomer } = await import("./present.ts");
      return { data: data.map(presentCustomer), nextCursor };
    },
    columns: ["id", "name", "email", ["externalId", "External ID"], "createdAt"],
  }),
  command({
    name: "customer add",
    summary: "Add a customer, to whom invoices can be addressed",
    flags: [
      neededOrganization,
      { flags: "--name <text>", description: "the customer's name", ask: "The customer's name" },
      { flags: "--email <address>", description: "the customer's e-mail address" },
      { flags: "--external-id <text>", description: "your own id of the customer" },
    ],
    examples: [
      "till customer add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name 'Bo Jansen' --email bo@example.com",
      "till customer add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --name Bo --external-id 4711 --json",
    ],
    effect: "write",
    async handle(service, call) {
      const { CreateCustomerRequest } = await import("./records.ts");
      return service.create(
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(CreateCustomerRequest, {
          name: call.flag("name"),
          email: call.flag("email"),
          externalId: call.flag("external-id"),
        }),
      );
    },
    async present(row) {
      return (await import("./present.ts")).presentCustomer(row);
    },
    columns: ["id", "name", "email", ["externalId", "External ID"], "createdAt"],
    next: (one) => `till invoice create --customer-id ${one.id}`,
  }),
];
