import type Router from "@koa/router";
import { admit } from "./admission.ts";
import { answer } from "./answer.ts";
import type { MountDependencies, RequestState } from "./exchange.ts";
import type { Operation } from "./operation.ts";
import { parseCall } from "./parse-call.ts";

/** Puts something on the router; how, it knows itself. */
export type Mountable = (router: Router<RequestState>) => void;

/**
 * Operations with the service that they call, ready for a router. The order is the same for each: limits,
 * authenticate, authorise, parse, handle once per Idempotency-Key, check the answer, send.
 */
export function mountOperations<Service>(
  operations: readonly Operation<Service>[],
  service: Service,
  deps: MountDependencies,
): Mountable {
  return (router) => {
    for (const operation of operations) {
      const path = `/v1${operation.path.replaceAll("{", ":").replaceAll("}", "")}`;
      router.register(path, [operation.method], async (ctx) => {
        const caller = await admit(ctx, operation, deps);
        const call = await parseCall(ctx, operation, caller);
        await answer(ctx, operation, service, call, deps);
      });
    }
  };
}
