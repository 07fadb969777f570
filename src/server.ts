import { createServer, type Server } from "node:http";
import Koa from "koa";
import {
  sendProblems,
  identifyRequest,
  logRequests,
  readTarget,
  refuseMethods,
  secureHeaders,
  shareCheckouts,
} from "./http/middleware.ts";
import { refuseBrokenRequests } from "./http/pipeline/broken-requests.ts";
import { mountDocs } from "./http/document/docs.ts";
import { noticeForwarding } from "./http/forwarding.ts";
import { measureRequests, mountHealth, mountMetrics } from "./http/monitoring.ts";
import type { RequestState } from "./http/pipeline/exchange.ts";
import { makeRouter, routeRequests } from "./http/pipeline/routes.ts";
import { representResponses } from "./http/representation.ts";
import { requireCheckout } from "./features/checkout/cache.ts";
import { allOperations } from "./features/index.ts";
import type { Program } from "./compose/app.ts";

/** Larger headers get 431; slower requests are ended. */
const headerBytesMax = 16 * 1_024;
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
const connectionCheckMs = 1_000;
const keepAliveMs = 65_000;

/** Creates the HTTP server of an app, not listening yet. The middleware runs in the order of these lines. */
export function createHttpServer(app: Program): Server {
  const koa = new Koa<RequestState>();
  koa.silent = true;

  const router = makeRouter((own) => {
    mountHealth(own, app);
    mountMetrics(own, { token: app.config.metricsToken, scrape: () => app.metrics.scrape() });
    mountDocs(own, { operations: allOperations, version: app.version, baseUrl: app.baseUrl });
  });

  koa.use(identifyRequest(app));
  koa.use(noticeForwarding(app));
  koa.use(measureRequests(app.metrics));
  const { logLevel, logRequests: isLogged } = app.config;
  if (isLogged) koa.use(logRequests(app, "info"));
  else if (logLevel === "debug" || logLevel === "trace") koa.use(logRequests(app, "debug"));
  koa.use(secureHeaders());
  koa.use(
    shareCheckouts({
      allowedOrigins: async (checkoutId) =>
        (await requireCheckout(app, checkoutId)).view.merchant.allowedOrigins,
    }),
  );
  koa.use(representResponses());
  koa.use(sendProblems(app));
  koa.use(readTarget());
  koa.use(routeRequests([router, ...app.mountables.map(makeRouter)]));
  koa.use(refuseMethods(router));

  const handle = koa.callback();
  const server = createServer(
    { maxHeaderSize: headerBytesMax, connectionsCheckingInterval: connectionCheckMs },
    (request, response) => void handle(request, response),
  );
  refuseBrokenRequests(server, app);
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.keepAliveTimeout = keepAliveMs;
  return server;
}
