import * as z from "zod";
import type { Actor } from "../../kernel/actor.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest } from "../../kernel/errors.ts";
import { parseJson } from "./body.ts";
import { expectation } from "./entity-tags.ts";
import type { Caller, Exchange } from "./exchange.ts";
import {
  mayLackBody,
  type AnyCall,
  type Operation,
  type pathParameters,
} from "../declare/operation.ts";
import { pathParameter } from "./path-parameter.ts";
import { UnsupportedMediaType } from "../declare/problems.ts";
import { parseBody, queryParser } from "../declare/request.ts";

/** Returns the parser of an operation's requests, which validates them by the operation's declaration, without the body. */
export function callParser(operation: Operation): (ctx: Exchange, caller: Caller) => AnyCall {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(
    (match) => match[1] as keyof typeof pathParameters,
  );
  const readQuery = queryParser(operation.query);
  return (ctx, caller) => {
    const params = Object.fromEntries(names.map((name) => [name, pathParameter(ctx, name)]));
    const query = readQuery(ctx.querystring);
    checkBody(ctx, operation);
    const actor: Actor = caller.principal ?? systemActor("public");
    return {
      params,
      query,
      body: undefined,
      actor: caller.principal,
      organizationId: caller.standing?.organizationId ?? null,
      standing: caller.standing,
      context: { actor, requestId: ctx.state.requestId, ip: ctx.state.clientAddress },
      expect: expectation(ctx.get("If-Match"), operation),
    };
  };
}

/** Accepted body of a POST without a body schema: an object without fields. */
const emptyBody = z.strictObject({});

function hasBody(ctx: Exchange): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = ctx.req.headers;
  return length === undefined ? encoding !== undefined : length !== "0";
}

/** Refuses a request whose body can be none of the operation's, before it is read. */
function checkBody(ctx: Exchange, operation: Operation): void {
  if (!hasBody(ctx)) {
    if (operation.body === null || mayLackBody(operation)) return;
    throw new InvalidRequest("This operation requires a JSON body.");
  }
  if (operation.body === null && operation.method !== "POST") {
    throw new InvalidRequest("This operation takes no body. Send the request without one.");
  }
  if (ctx.is("application/json") === false) {
    throw new UnsupportedMediaType("Send JSON with the header Content-Type: application/json.");
  }
}

/** Returns the body of a request, once it is read. */
export function bodyOf(ctx: Exchange, operation: Operation): unknown {
  if (!hasBody(ctx)) return operation.body === null ? undefined : operation.body.parse({});
  const body = parseBody(operation.body ?? emptyBody, parseJson(ctx));
  return operation.body === null ? undefined : body;
}
