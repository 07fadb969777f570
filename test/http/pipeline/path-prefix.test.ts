// An instance below a path of a reverse proxy, which strips the path: what its answers refer to is found there.
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { send, startApp, type TestApp } from "../../support/app.ts";

describe("an instance below a path prefix", () => {
  const prefix = "/shop";
  let app: TestApp;
  let proxy: Server;
  let origin: string;

  before(async () => {
    proxy = createServer((incoming, outgoing) => {
      const { pathname, search } = new URL(incoming.url ?? "/", origin);
      if (!pathname.startsWith(`${prefix}/`)) {
        outgoing.writeHead(502).end();
        return;
      }
      const { method, headers } = incoming;
      const target = app.url + pathname.slice(prefix.length) + search;
      const inner = request(target, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(inner);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`;
    const settings = { TILL_BASE_URL: `${origin}${prefix}/` };
    app = await startApp({ background: false, settings });
  });
  after(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await app.stop();
  });

  it("answers problems whose type resolves to their explanation, from every depth of the path", async () => {
    for (const [target, code] of [
      ["/nothing", "not_found"],
      ["/v1/organizations/org_1/invoices", "unauthenticated"],
    ] as const) {
      const url = origin + prefix + target;
      const answer = await send(origin, "GET", prefix + target);
      expect(answer.body["type"]).to.equal(`${prefix}/docs/problems#${code}`);
      const explanation = await fetch(new URL(String(answer.body["type"]), url));
      expect(explanation.status).to.equal(200);
      expect(await explanation.text()).to.include(`<h2 id="${code}">`);
    }
  });

  it("shows a manual whose pages, scripts and styles load, also with a trailing slash", async () => {
    const answer = await fetch(`${origin}${prefix}/docs/`);
    const page = answer.url;
    const found = [...(await answer.text()).matchAll(/(?:href|src)="([^"#]+)"/g)];
    const own = found
      .map(([, reference = ""]) => new URL(reference, page))
      .filter((url) => url.origin === origin);
    expect(own.map(({ pathname }) => pathname)).to.include.members([
      `${prefix}/docs/manual.css`,
      `${prefix}/docs/manual.js`,
      `${prefix}/docs/guides/webhooks`,
    ]);
    for (const url of own) expect((await fetch(url, { method: "HEAD" })).status).to.equal(200);
  });
});
