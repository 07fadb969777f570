import { pathParameters, type Operation } from "../../../src/http/declare/operation.ts";
import { createIds } from "../../../src/kernel/id.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";

const ids = createIds(systemRandom);

/** Values of path parameters other than ids. */
const words: Record<string, string> = {
  checkoutId: ids.unguessable("chk"),
  queue: "webhooks",
  network: "sandbox",
};

/** The path of an operation with well-formed ids: the given ones, and unknown ones for the rest. */
export function pathOf(operation: Operation, given: Readonly<Record<string, string>> = {}): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const kind = pathParameters[name as keyof typeof pathParameters];
    return given[name] ?? (kind === null ? words[name] : ids.next(kind, Date.now())) ?? "unknown";
  });
  return `/v1${path}`;
}

/** The names of an operation's path parameters. */
export function parametersOf(operation: Operation): readonly string[] {
  return [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
}

export function isWrite(operation: Operation): boolean {
  return operation.method !== "GET";
}
