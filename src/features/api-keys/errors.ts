import { defineProblem } from "../../kernel/errors.ts";

export const ScopeNotAllowed = defineProblem({
  code: "scope_not_allowed",
  status: 403,
  title: "The caller may not grant this scope",
});
export const ExpiryNotAllowed = defineProblem({
  code: "expiry_not_allowed",
  status: 403,
  title: "A key cannot create a key that outlives it",
});
