import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type Router from "@koa/router";
import { notFound } from "../../kernel/errors.ts";
import type { RequestState } from "../pipeline/exchange.ts";
import type { Operation } from "../declare/operation.ts";
import { openApiDocument } from "./openapi.ts";
import { problemsOfAnyRequest } from "../declare/problems.ts";
import { keepBody, sendKept, type KeptBody } from "../representation.ts";
import { problemsOf } from "../declare/responses.ts";

/** The Swagger UI files that the page loads, served from an npm package so that no other host is contacted. */
const assets: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

/** Swagger UI sets inline styles; scripts come from this host only, and no other host is contacted. */
const docsSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

// Every reference is relative, because a proxy may serve the instance below a path.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Till API</title>
<link rel="icon" type="image/png" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({
  url: "v1/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
});
`;

const html = "text/html; charset=utf-8";
const javascript = "text/javascript; charset=utf-8";

/** Serves the OpenAPI document, a page that displays it, and a page that explains every problem. */
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

  const texts: Readonly<Record<string, { readonly type: string; readonly make: () => string }>> = {
    "/v1/openapi.json": { type: "application/json", make: () => JSON.stringify(document()) },
    "/docs": { type: html, make: () => page },
    "/docs/start.js": { type: javascript, make: () => start },
    "/docs/problems": { type: html, make: () => problemsPage(deps.operations) },
  };
  for (const [path, { type, make }] of Object.entries(texts)) {
    let kept: Promise<KeptBody> | undefined;
    router.get(path, async (ctx) => {
      if (ctx.path.endsWith("/")) {
        // With a trailing slash the page's relative references would resolve one folder too deep.
        ctx.redirect(`..${path.slice(path.lastIndexOf("/"))}`);
        return;
      }
      kept ??= keepBody(type, make());
      if (type === html) ctx.set("Content-Security-Policy", docsSecurityPolicy);
      // Browsers must revalidate each time, which costs a 304.
      ctx.set("Cache-Control", "no-cache");
      sendKept(ctx, await kept);
    });
  }

  const files = new Map<string, Promise<KeptBody>>();
  router.get("/docs/assets/:file", async (ctx) => {
    const name = ctx.params["file"] ?? "";
    const type = Object.hasOwn(assets, name) ? assets[name] : undefined;
    if (type === undefined) throw notFound();
    const file = files.get(name) ?? readAsset(name, type);
    files.set(name, file);
    ctx.set("Cache-Control", "public, max-age=86400");
    sendKept(ctx, await file);
  });
}

async function readAsset(name: string, type: string): Promise<KeptBody> {
  return keepBody(type, await readFile(join(assetFolder(), name)));
}

function assetFolder(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("@fastify/swagger-ui/package.json")), "static");
}

/** Renders the page that a problem's `type` links to: code, status and title of every problem. */
function problemsPage(operations: readonly Operation[]): string {
  const problems = [...problemsOfAnyRequest, ...operations.flatMap(problemsOf)];
  const definitions = new Map(
    problems.map(({ definition }) => [definition.code, definition] as const),
  );
  const entries = [...definitions.values()]
    .sort((left, right) => (left.code < right.code ? -1 : 1))
    .map(
      ({ code, status, title }) =>
        `<h2 id="${code}">${code}</h2>\n<p>${String(status)}: ${title}. The <code>detail</code> of the response says what to do next.</p>`,
    );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Till: problems</title></head>
<body>
<h1>Problems</h1>
<p>Every error response is a problem document (RFC 9457) with one of these codes.</p>
${entries.join("\n")}
</body>
</html>
`;
}
