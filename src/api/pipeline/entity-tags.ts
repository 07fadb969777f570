import { digest } from "../../kernel/digest.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Operation } from "../declare/operation.ts";
import { PreconditionFailed } from "../declare/problems.ts";
import { serialize } from "./serialize.ts";

/** Computes the entity tag of a representation: equal bodies have equal tags. */
export function entityTag(body: string | Uint8Array): string {
  return `"${digest(body).slice(0, 32)}"`;
}

/**
 * Parses the tags of an If-Match or If-None-Match header. Weak tags, which proxies make of strong ones, count as
 * strong.
 */
export function tagsOf(header: string): readonly string[] {
  return header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}

/** Returns a check that throws PreconditionFailed if the current state does not match If-Match, in any encoding. */
export function expectation(ifMatch: string, operation: Operation): (current: unknown) => void {
  if (!operation.conditional) {
    return () => {
      throw new Defect(`${operation.id} checks If-Match but is not declared conditional`);
    };
  }
  if (ifMatch === "" || ifMatch === "*") return () => undefined;
  const tags = tagsOf(ifMatch).map((tag) => tag.replace(/-(?:br|gzip)"$/, '"'));
  return (current) => {
    if (tags.includes(entityTag(JSON.stringify(serialize(operation, current).body)))) return;
    throw new PreconditionFailed(
      "The object has changed since you read it. Read it again, then repeat the change with the new ETag.",
    );
  };
}
