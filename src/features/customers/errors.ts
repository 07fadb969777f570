import { defineProblem } from "../../kernel/errors.ts";

export const ExternalIdTaken = defineProblem({
  code: "external_id_taken",
  status: 409,
  title: "The externalId belongs to another customer",
});
