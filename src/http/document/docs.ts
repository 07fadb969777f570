import { readFile } from "node:fs/promises";
import type Router from "@koa/router";
import { notFound } from "../../kernel/errors.ts";
import type { Operation } from "../declare/operation.ts";
import type { Exchange, RequestState } from "../pipeline/exchange.ts";
import { prepareBody, sendPrepared, type PreparedBody } from "../representation.ts";
import { openManual, type Manual } from "./manual/manual.ts";
import { openApiDocument } from "./openapi.ts";
import { packageFile, programFile } from "../../platform/files.ts";

/** No inline styles or scripts, and no other host. */
const securityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

const html = "text/html; charset=utf-8";
const json = "application/json";
const markdown = "text/markdown; charset=utf-8";
const plain = "text/plain; charset=utf-8";

/** The files beside the pages, each with its path and its type. */
const assets: Readonly<Record<string, readonly [file: URL, type: string]>> = {
  "manual.css": [programFile("http/document/manual/manual.css"), "text/css; charset=utf-8"],
  "manual.js": [programFile("http/document/manual/manual.js"), "text/javascript; charset=utf-8"],
  // The client of this version, which the build has packed, for `npm install`.
  "till-client.tgz": [packageFile("dist/till-client.tgz"), "application/gzip"],
};

/** Serves the OpenAPI document and the manual. Nothing is read, rendered or kept before it is asked for. */
export function mountDocs(
  router: Router<RequestState>,
  deps: {
    readonly operations: readonly Operation[];
    readonly version: string;
    readonly baseUrl: () => string;
  },
): void {
  // Same host as the document, with the path of the base URL as prefix.
  const server = () => `${new URL(deps.baseUrl()).pathname.replace(/\/$/, "")}/v1`;
  const document = () => openApiDocument(deps.operations, deps.version, server());
  let manual: Promise<Manual> | undefined;
  const opened = () =>
    (manual ??= openManual().catch((error: unknown) => {
      manual = undefined;
      throw error;
    }));
  const cached = new Map<string, Promise<PreparedBody | null>>();

  /** Returns the body at a path below the root of the server; null if nothing is there. */
  async function make(path: string): Promise<PreparedBody | null> {
    if (path === "v1/openapi.json") return prepareBody(json, JSON.stringify(document()));
    if (path === "docs/search.json") {
      return prepareBody(json, JSON.stringify((await opened()).entries()));
    }
    if (path === "llms.txt") return prepareBody(plain, (await opened()).overview());
    const asset = path.slice("docs/".length);
    const [file, type] = (Object.hasOwn(assets, asset) ? assets[asset] : undefined) ?? [];
    if (file !== undefined && type !== undefined) {
      return prepareBody(type, await readFile(file));
    }
    const text = (await opened()).markdown(path);
    if (text !== null) return prepareBody(markdown, text);
    const page = await (await opened()).page(path);
    return page === null ? null : prepareBody(html, page);
  }

  async function send(ctx: Exchange): Promise<void> {
    const path = ctx.path.slice(1);
    if (path.endsWith("/")) {
      // With a trailing slash the page's relative references would resolve one folder too deep.
      ctx.redirect(`..${ctx.path.slice(ctx.path.lastIndexOf("/", ctx.path.length - 2), -1)}`);
      return;
    }
    const body = await (cached.get(path) ?? make(path));
    if (body === null) throw notFound();
    cached.set(path, Promise.resolve(body));
    if (body.type === html) ctx.set("Content-Security-Policy", securityPolicy);
    // Browsers must revalidate each time, which costs a 304.
    ctx.set("Cache-Control", "no-cache");
    sendPrepared(ctx, body);
  }

  router.get("/v1/openapi.json", send);
  router.get("/llms.txt", send);
  router.get("/docs", send);
  router.get("/docs/:page", send);
  router.get("/docs/:room/:page", send);
}
