import type { App } from "../../app.ts";
import type Router from "@koa/router";
import { admit } from "./admission.ts";
import { respond } from "./respond.ts";
import { bodyOf, callParser, readJson } from "./parse-call.ts";
import type { MountDependencies, RequestState } from "./exchange.ts";
import type { AnyCall, Operation } from "../declare/operation.ts";

/** Registers its routes on a router. */
export type Mountable = (router: Router<RequestState>) => void;

/**
 * Mounts operations. The order is the same for each: admission of the caller, within rate limits (see `admit`), parsing,
 * the handler (once per Idempotency-Key), validation of the response, sending.
 */
export function mountOperations(
  operations: readonly Operation[],
  app: App,
  deps: MountDependencies,
): Mountable {
  return (router) => {
    for (const operation of operations) {
      const path = `/v1${operation.path.replaceAll("{", ":").replaceAll("}", "")}`;
      const verb = operation.method.toLowerCase() as Lowercase<typeof operation.method>;
      const parseCall = callParser(operation);
      router[verb](
        path,
        async (ctx, next) => {
          const caller = await admit(ctx, operation, deps);
          ctx.state.call = parseCall(ctx, caller);
          await next();
        },
        readJson,
        async (ctx) => {
          const call = { ...ctx.state.call, body: bodyOf(ctx, operation) };
          await respond(ctx, operation, app, limited(call, operation, deps), deps);
        },
      );
    }
  };
}

/** Returns the call with a limit of what it writes, if its organization needs an approval and has none. */
function limited(
  call: AnyCall,
  { status, path }: Operation,
  { spend: spendOf }: MountDependencies,
): AnyCall {
  const { membership, context } = call;
  if (membership === null || membership.isApproved || spendOf === null) return call;
  // The way to the approval never ends.
  if (path.endsWith("/kyb/submit")) return call;
  const isCreation = status === 201 || path.endsWith("/batch");
  const spend = spendOf(membership.organizationId, isCreation);
  return spend === undefined ? call : { ...call, context: { ...context, spend } };
}
