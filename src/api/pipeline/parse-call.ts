import { z } from "zod";
import type { Actor } from "../../kernel/actor.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest } from "../../kernel/errors.ts";
import { readJson } from "./body.ts";
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
import { parseBody, parseQuery } from "../declare/request.ts";

/** Parses and validates a request by the operation's declaration. */
export async function parseCall(
  ctx: Exchange,
  operation: Operation,
  caller: Caller,
): Promise<AnyCall> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(
    (match) => match[1] as keyof typeof pathParameters,
  );
  const params = Object.fromEntries(names.map((name) => [name, pathParameter(ctx, name)]));
  const query = parseQuery(operation.query, ctx.querystring);
  const body = await bodyOf(ctx, operation);
  const actor: Actor = caller.principal ?? systemActor("public");
  return {
    params,
    query,
    body,
    actor: caller.principal,
    organizationId: caller.standing?.organizationId ?? null,
    standing: caller.standing,
    context: { actor, requestId: ctx.state.requestId, ip: ctx.state.clientAddress },
    expect: expectation(ctx.get("If-Match"), operation),
  };
}

/** Accepted body of a POST without a body schema: an object without fields. */
const emptyBody = z.strictObject({});

async function bodyOf(ctx: Exchange, operation: Operation): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": encoding } = ctx.req.headers;
  const hasBody = length === undefined ? encoding !== undefined : length !== "0";
  if (!hasBody) {
    if (operation.body === null) return undefined;
    if (mayLackBody(operation)) return operation.body.parse({});
    throw new InvalidRequest("This operation requires a JSON body.");
  }
  if (operation.body === null && operation.method !== "POST") {
    throw new InvalidRequest("This operation takes no body. Send the request without one.");
  }
  if (ctx.is("application/json") === false) {
    throw new UnsupportedMediaType("Send JSON with the header Content-Type: application/json.");
  }
  const body = parseBody(operation.body ?? emptyBody, await readJson(ctx));
  return operation.body === null ? undefined : body;
}
