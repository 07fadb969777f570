import type { Operation } from "../declare/operation.ts";

/** Converts a result to its response record; `fault` describes a mismatch. */
export function serialize(
  operation: Operation,
  result: unknown,
): { body: unknown; fault: string | null } {
  const presented = operation.present(result);
  if (operation.record === null) return { body: null, fault: null };
  const parsed = operation.record.safeParse(presented);
  if (!parsed.success) return { body: presented, fault: parsed.error.message };
  const dropped = fieldCount(presented) - fieldCount(parsed.data);
  const fault = dropped === 0 ? null : `${String(dropped)} fields are not in the record`;
  return { body: parsed.data, fault };
}

function fieldCount(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + fieldCount(item), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + fieldCount(item), 0);
}
