import Router from "@koa/router";
import type { RequestState } from "./exchange.ts";
import type { Mountable } from "./mount.ts";

type Routes = ReturnType<Router<RequestState>["routes"]>;

/** Creates a router with the routes that `mount` registers. */
export function makeRouter(mount: Mountable): Router<RequestState> {
  // Case-sensitive, so that capital letters cannot bypass a proxy's rule for `/v1/admin` or `/metrics`.
  const router = new Router<RequestState>({ sensitive: true });
  mount(router);
  return router;
}

/**
 * Routes requests to the routers of the features. A router tests the patterns of all its routes one after another, so a
 * request goes only to those with a route that begins like its path, or else to the first, which has no such path.
 */
export function routeRequests(
  routers: readonly [Router<RequestState>, ...Router<RequestState>[]],
): Routes {
  const byStart = new Map<string, Set<Router<RequestState>>>();
  for (const router of routers) {
    for (const { path } of router.stack) {
      const start = startOf(String(path));
      byStart.set(start, (byStart.get(start) ?? new Set()).add(router));
    }
  }
  const routesOf = new Map([...byStart].map(([start, some]) => [start, joined([...some])]));
  const none = routers[0].routes();
  return (ctx, next) => (routesOf.get(startOf(ctx.path)) ?? none)(ctx, next) as Promise<void>;
}

/** Returns the routes of several routers as those of one. */
function joined(routers: readonly Router<RequestState>[]): Routes {
  return makeRouter((router) => {
    for (const each of routers) router.use(each.routes());
  }).routes();
}

/**
 * Returns the first segments of a path or of a route's pattern, up to the first that tells the features apart: `pay`,
 * `v1/networks`, `v1/organizations/invoices`.
 */
function startOf(path: string): string {
  const [, first = "", second = "", , fourth = ""] = path.split("/", 5);
  if (first !== "v1") return first;
  return second === "organizations" ? `${first}/${second}/${fourth}` : `${first}/${second}`;
}
