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
import { parseBody, queryParser } from "../declare/request.ts";

/** Returns the parser of an operation's requests, which validates them by the operation's declaration. */
export function callParser(
  operation: Operation,
): (ctx: Exchange, caller: Caller) => Promise<AnyCall> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(
    (match) => match[1] as keyof typeof pathParameters,
  );
  const readQuery = queryParser(operation.query);
  const readBody = bodyParser(operation);
  return async (ctx, caller) => {
    const params = Object.fromEntries(names.map((name) => [name, pathParameter(ctx, name)]));
    const query = readQuery(ctx.querystring);
    const body = await readBody(ctx);
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
  };
}

/** Accepted body of a POST without a body schema: an object without fields. */
const emptyBody = z.strictObject({});

function bodyParser(operation: Operation): (ctx: Exchange) => Promise<unknown> {
  return async (ctx) => {
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
  };
}
