import { digest } from "../../kernel/digest.ts";
import { Defect } from "../../kernel/errors.ts";
import type { Operation } from "../declare/operation.ts";
import { observedFields } from "../declare/record.ts";
import { PreconditionFailed } from "../declare/problems.ts";
import { serialize } from "./serialize.ts";

/** Computes the entity tag of a representation: equal bodies have equal tags. */
export function entityTag(body: string | Uint8Array): string {
  return `"${digest(body).slice(0, 32)}"`;
}

/**
 * Computes the entity tag of an operation's response. If its record has fields that Till observes, the tag has two parts
 * with a period between them: one of all other fields, and one of these.
 */
export function tagOfAnswer({ record }: Operation, body: string): string {
  const observed = record === null ? [] : observedFields(record);
  if (observed.length === 0) return entityTag(body);
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
  const partOf = (isObserved: boolean) =>
    entityTag(
      JSON.stringify(fields.filter(([name]) => observed.includes(name) === isObserved)),
    ).slice(1, -1);
  return `"${partOf(false)}.${partOf(true)}"`;
}

/** Removes the name of an encoding and the part of the observed fields, which `If-Match` leaves out. */
function comparable(tag: string): string {
  return tag.replace(/-(?:br|gzip)"$/, '"').replace(/\.[0-9a-f]+"$/, '"');
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
  const tags = tagsOf(ifMatch).map(comparable);
  return (current) => {
    const tag = tagOfAnswer(operation, JSON.stringify(serialize(operation, current).body));
    if (tags.includes(comparable(tag))) return;
    throw new PreconditionFailed(
      "The object has changed since you read it. Read it again, then repeat the change with the new ETag.",
    );
  };
}
