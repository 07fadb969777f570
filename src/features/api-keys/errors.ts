import { defineProblem } from "../../kernel/errors.ts";

export const ScopeNotAllowed = defineProblem({
  code: "scope_not_allowed",
  status: 403,
  title: "The caller may not grant this scope",
  remedy: "Let a caller who has the scope create the key: see the permissions.",
});
export const ExpiryNotAllowed = defineProblem({
  code: "expiry_not_allowed",
  status: 403,
  title: "A key cannot create a key that outlives it",
  remedy:
    "Choose an `expiresAt` that is not later than the expiry of the key that makes the request.",
});
export const ApiKeyLimit = defineProblem({
  code: "api_key_limit",
  status: 409,
  title: "The organization has as many active API keys as it may have",
  remedy: "Revoke keys that are no longer used: `lastUsedAt` of each says when it was.",
});
