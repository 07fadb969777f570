import { defineProblem } from "../../kernel/errors.ts";

export const ExternalIdTaken = defineProblem({
  code: "external_id_taken",
  status: 409,
  title: "The externalId belongs to another customer",
  remedy:
    "List the customers with this `externalId` and use that customer, or send another `externalId`.",
});
