import Router from "@koa/router";
import { expect } from "chai";
import { dispatchRoutes } from "../../../src/api/pipeline/dispatch.ts";
import type { RequestState } from "../../../src/api/pipeline/exchange.ts";
import { allOperations } from "../../../src/features/index.ts";

interface Routed {
  readonly method: string;
  readonly path: string;
  params?: Record<string, string>;
  _matchedRoute?: string;
  handler?: string;
}

function makeRouter(routes: readonly (readonly [string, string])[]): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true });
  for (const [method, path] of routes) {
    router.register(path, [method], (ctx) => {
      (ctx as unknown as Routed).handler = `${method} ${path}`;
    });
  }
  return router;
}

/** Returns the handler that the dispatch, or without one the router, runs for a request; null if the path has no handler. */
async function handlerOf(
  middleware: unknown,
  method: string,
  path: string,
): Promise<Pick<Routed, "handler" | "params" | "_matchedRoute"> | null> {
  const ctx: Routed & { request: object } = { method, path, request: {} };
  let isPassedOn = false as boolean;
  await (middleware as (ctx: Routed, next: () => Promise<void>) => Promise<void>)(ctx, () => {
    isPassedOn = true;
    return Promise.resolve();
  });
  if (isPassedOn) return null;
  const { handler, params, _matchedRoute } = ctx;
  return { handler: handler ?? "", params: params ?? {}, _matchedRoute: _matchedRoute ?? "" };
}

describe("the dispatch of requests", () => {
  it("runs the same handler with the same parameters as the router, for every operation", async () => {
    const router = makeRouter(
      allOperations.map(({ method, path }) => [
        method,
        `/v1${path.replaceAll("{", ":").replaceAll("}", "")}`,
      ]),
    );
    const dispatch = dispatchRoutes(router);
    for (const { method, path } of allOperations) {
      const target = `/v1${path.replaceAll(/\{(\w+)\}/g, "$1%20x")}`;
      for (const asked of [target, `${target}/`]) {
        const found = await handlerOf(dispatch, method, asked);
        expect(found, `${method} ${asked}`).not.to.equal(null);
        expect(found).to.deep.equal(await handlerOf(router.routes(), method, asked));
      }
    }
  });

  it("prefers the route that was registered first, as the router does", async () => {
    for (const routes of [
      ["/a/:x", "/a/b", "/a/:x/c"],
      ["/a/b", "/a/:x", "/a/b/:y"],
    ]) {
      const router = makeRouter(routes.map((path) => ["GET", path]));
      const dispatch = dispatchRoutes(router);
      for (const path of ["/a/b", "/a/b/", "/a/d", "/a/b/c", "/a/d/c"]) {
        const expected = await handlerOf(router.routes(), "GET", path);
        expect(await handlerOf(dispatch, "GET", path), path).to.deep.equal(expected);
      }
      expect((await handlerOf(dispatch, "HEAD", "/a/b"))?.handler).to.contain("GET");
    }
  });

  it("passes on what has no route", async () => {
    const dispatch = dispatchRoutes(makeRouter([["GET", "/a/:x"]]));
    for (const [method, path] of [
      ["POST", "/a/b"],
      ["OPTIONS", "/a/b"],
      ["GET", "/a"],
      ["GET", "/a/b/c"],
      ["GET", "/A/b"],
      ["GET", "//a/b"],
      ["GET", "*"],
      ["GET", ""],
    ] as const) {
      expect(await handlerOf(dispatch, method, path), `${method} ${path}`).to.equal(null);
    }
  });
});
