import { digest } from "../kernel/digest.ts";
import { Defect } from "../kernel/errors.ts";
import type { Operation } from "./operation.ts";
import { PreconditionFailed } from "./problems.ts";
import { serialize } from "./serialize.ts";

/** The tag of a representation: equal bodies have equal tags. */
export function entityTag(body: string | Uint8Array): string {
  return `"${digest(body).slice(0, 32)}"`;
}

/** The tags that an If-Match or If-None-Match names; weak ones, which proxies make of ours, count like strong ones. */
export function tagsOf(header: string): readonly string[] {
  return header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
}

/** Throws PreconditionFailed where the current state is not one that the request's If-Match names, in any encoding. */
export function expectation(ifMatch: string, operation: Operation): (current: unknown) => void {
  if (!operation.conditional) {
    return () => {
      throw new Defect(`${operation.id} honours If-Match and does not say so`);
    };
  }
  if (ifMatch === "" || ifMatch === "*") return () => undefined;
  const tags = tagsOf(ifMatch).map((tag) => tag.replace(/-(?:br|gzip)"$/, '"'));
  return (current) => {
    if (tags.includes(entityTag(JSON.stringify(serialize(operation, current).body)))) return;
    throw new PreconditionFailed(
      "Somebody changed the object since it was read. Read it again, then repeat the change with the new ETag.",
    );
  };
}
