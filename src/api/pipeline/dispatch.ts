import type Router from "@koa/router";
import type { Middleware } from "koa";
import type { RequestState } from "./exchange.ts";

type Layer = Router<RequestState>["stack"][number];
type Exchange = Parameters<Middleware<RequestState>>[0];

/**
 * Runs the handler of a request's route. The router tests the path patterns of all routes one after another; this finds
 * the few candidates by method, number of segments and first two segments. A request without a route here continues to
 * the router, which knows the answers for other methods and unknown paths.
 */
export function dispatchRoutes(router: Router<RequestState>): Middleware<RequestState> {
  const candidates = groupRoutes(router.stack);
  return (ctx, next) => {
    const { path } = ctx;
    const [exact, anyOfFirst] = keysOf(ctx.method, path);
    const layers = candidates.get(exact) ?? candidates.get(anyOfFirst);
    const layer = layers?.find(({ regexp }) => regexp.test(path));
    const handle = layer?.stack[0];
    if (layer === undefined || handle === undefined) return next();
    const routed = ctx as Exchange & { params: Record<string, string>; _matchedRoute: unknown };
    routed.params = layer.params(path, layer.captures(path));
    // Read by the log and the metrics, which name routes and not paths.
    routed._matchedRoute = layer.path;
    return handle(routed as never, next) as Promise<void>;
  };
}

/** Groups routes by their keys, in the order of their registration: the first that matches handles a request. */
function groupRoutes(layers: readonly Layer[]): ReadonlyMap<string, readonly Layer[]> {
  const keyed = layers
    // Layers without a method or with several handlers are middleware, which only the router runs.
    .filter((layer) => layer.stack.length === 1)
    .flatMap((layer) => {
      const pattern = String(layer.path).replace(/:\w+/g, "*");
      return layer.methods.map((method) => ({ layer, keys: keysOf(method, pattern) }));
    });
  return new Map(
    keyed.map(({ keys: [key, anyOfFirst] }) => {
      const group = keyed.filter(({ keys }) => keys[0] === key || keys[0] === anyOfFirst);
      return [key, group.map(({ layer }) => layer)];
    }),
  );
}

/** Returns the key of a path, and that of routes whose second segment is a parameter. */
function keysOf(method: string, path: string): readonly [string, string] {
  const [first = "", second = "", ...rest] = segmentsOf(path);
  const start = `${method} ${String(rest.length)} ${first} `;
  return [start + second, `${start}*`];
}

/** Returns the segments of a path. The router ignores one slash at its end. */
function segmentsOf(path: string): string[] {
  const segments = path.slice(1).split("/");
  if (segments.length > 1 && segments.at(-1) === "") segments.pop();
  return segments;
}
