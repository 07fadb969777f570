import { scopesMay } from "../declare/permissions.ts";
import type { Principal } from "../declare/access.ts";

/** The fields whose value lets its reader act as a payer; all may be null. */
const payersFields: ReadonlySet<string> = new Set(["checkoutId", "checkoutUrl", "openInvoice"]);
/** The field with the merchant's own names and values. */
const ownField = "metadata";

/** Whether a caller may see the pages of payers: everybody but keys that make no invoices. */
export function maySeeCheckouts(principal: Principal | null): boolean {
  if (principal?.type !== "api_key") return true;
  return (["invoices:write", "platform:read"] as const).some((permission) =>
    scopesMay(principal.scopes, permission),
  );
}

/** Returns an answer, however deep its records, in which the fields that let a caller act as a payer are null. */
export function withoutCheckouts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutCheckouts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (name === ownField) return [name, field];
      return [name, payersFields.has(name) ? null : withoutCheckouts(field)];
    }),
  );
}
