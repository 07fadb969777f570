// The manual that an instance serves at /docs.
import { readdir, readFile } from "node:fs/promises";
import { expect } from "chai";
import { allOperations } from "../../../src/features/index.ts";
import { problemsOf } from "../../../src/http/declare/responses.ts";
import { describeInBrowser } from "../../support/suites/describe-in-browser.ts";
import { anyServed, startApp, type TestApp } from "../../support/app.ts";

const prefix = "/some/shop/";
/** The link of a page to its Markdown. */
const alternate = /<link rel="alternate" type="text\/markdown" href="([^"]+)">/;

interface Visited {
  readonly text: string;
  readonly headers: Headers;
  readonly ids: ReadonlySet<string>;
  readonly links: readonly URL[];
}

anyServed(
  "the manual",
  (served) => {
    const pages = new Map<string, Visited>();

    async function visit(path: string): Promise<Visited> {
      const response = await fetch(`${served.app.url}${path}`);
      const text = await response.text();
      expect(response.status, path).to.equal(200);
      // The page is resolved as if a proxy served the instance below a path.
      const here = new URL(prefix + path.slice(1), "https://till.example");
      const page = text.replace(alternate, "");
      const found = [...page.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, to = ""]) => to);
      const links = found.map((to) => new URL(to.replaceAll("&#38;", "&"), here));
      const ids = new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id));
      return { text, headers: response.headers, ids, links };
    }

    before(async () => {
      const waiting = ["/docs"];
      for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
        const visited = await visit(path);
        pages.set(path, visited);
        for (const { host, pathname } of visited.links) {
          if (host !== "till.example") continue;
          expect(pathname, `a link of ${path}`).to.match(new RegExp(`^${prefix}`));
          const to = pathname.slice(prefix.length - 1);
          if (!pages.has(to) && !waiting.includes(to)) waiting.push(to);
        }
      }
    });

    it("draws every diagram without a script or a style of its own, and tells its source", () => {
      const drawn = [...pages].filter(([, { text }]) => text.includes("The diagram as text"));
      expect(drawn.map(([path]) => path)).to.include.members([
        ...["/docs/architecture", "/docs/guides/webhooks", "/docs/operating/billing"],
      ]);
      for (const [path, { text }] of drawn) {
        const figures = text.match(/<figure>.*?<\/figure>/gs) ?? [];
        for (const figure of figures) {
          expect(figure, path).to.match(/<svg .*<\/svg>.*(?:stateDiagram|flowchart)/s);
          expect(figure, path).not.to.match(/<style| style=|<script|https?:/);
        }
        expect(text.split("<svg ").length, path).to.equal(figures.length + 1);
      }
      const isSource = /<pre tabindex="0"><code>(?:stateDiagram|flowchart|sequenceDiagram)/;
      for (const [path, { text }] of pages) {
        const outside = text.replaceAll(/<figure>.*?<\/figure>/gs, "");
        expect(isSource.test(outside), `a diagram of ${path} is not drawn: npm run docs`).to.equal(
          false,
        );
      }
    });

    it("links every page and every section below any path, and names no missing one", () => {
      expect([...pages.keys()]).to.include.members([
        ...["/docs", "/docs/guides/first-order", "/docs/guides/webhooks", "/docs/events"],
        ...["/docs/api/invoices", "/docs/api/records", "/docs/problems", "/docs/permissions"],
        ...["/docs/operating/billing", "/docs/settings", "/docs/glossary", "/docs/architecture"],
      ]);
      for (const [path, { links }] of pages) {
        for (const { host, pathname, hash } of links) {
          if (host !== "till.example" || hash === "") continue;
          const ids = pages.get(pathname.slice(prefix.length - 1))?.ids;
          expect(
            ids?.has(decodeURIComponent(hash.slice(1))),
            `${path}: ${pathname}${hash}`,
          ).to.equal(true);
        }
      }
    });

    it("describes every operation with its problems, and every record", () => {
      const reference = [...pages].filter(([path]) => path.startsWith("/docs/api/"));
      for (const operation of allOperations) {
        const found = reference.find(([, { ids }]) => ids.has(operation.id));
        expect(found, operation.id).not.to.equal(undefined);
        const section =
          found?.[1].text.split('<a id="').find((part) => part.startsWith(`${operation.id}"`)) ??
          "";
        expect(section).to.contain(`${operation.method} /v1${operation.path}`);
        for (const { definition } of problemsOf(operation)) {
          expect(section, operation.id).to.contain(`docs/problems#${definition.code}"`);
        }
      }
      const records = pages.get("/docs/api/records");
      expect(records?.ids.has("Invoice")).to.equal(true);
      expect(records?.ids.has("Problem")).to.equal(true);
    });

    it("lists all pages on the start page, and elsewhere its own room and one link to each other", () => {
      const navigationOf = (path: string) =>
        /<nav .*<\/nav>/s.exec(pages.get(path)?.text ?? "")?.[0] ?? "";
      const linksOf = (path: string) =>
        [...navigationOf(path).matchAll(/<a href="([^"]*)"[^>]*>([^<]*)</g)].map(
          ([, to = "", title = ""]) => [to, title] as const,
        );
      const all = linksOf("/docs");
      expect(all.length).to.be.above(80);
      for (const [path, { headers, text }] of pages) {
        if (headers.get("content-type")?.startsWith("text/html") !== true) continue;
        expect(text, path).to.match(/<body>\n<a class="skip" href="#content">Skip to content<\/a>/);
        if (path === "/docs") continue;
        const links = linksOf(path);
        const rooms = links.filter(([to]) => to.includes("docs#pages-"));
        expect(rooms.length, path).to.be.within(5, 6);
        const isDecision = path.startsWith("/docs/decisions/");
        expect(
          links.some(([to]) => to.includes("decisions/")),
          path,
        ).to.equal(isDecision);
        if (!isDecision) expect(links.length, path).to.be.below(35);
      }
      const current = navigationOf("/docs/guides/webhooks").match(/<a [^>]*aria-current="page"/g);
      expect(current).to.have.length(1);
    });

    it("names the Markdown of every page, below any path, and serves it", async () => {
      const named = [...pages].flatMap(([path, { text, headers }]) => {
        if (headers.get("content-type")?.startsWith("text/html") !== true) return [];
        const [, to = ""] = alternate.exec(text) ?? [];
        return [new URL(to, `https://till.example${path}`).pathname];
      });
      const folder = new URL("../../../docs/", import.meta.url);
      const files = await readdir(folder, { recursive: true });
      expect(named).to.have.members(
        files.filter((name) => name.endsWith(".md")).map((name) => `/docs/${name}`),
      );
      for (const name of ["index.md", "guides/webhooks.md"]) {
        const response = await fetch(`${served.app.url}/docs/${name}`);
        expect(response.headers.get("content-type")).to.equal("text/markdown; charset=utf-8");
        expect(await response.text()).to.equal(await readFile(new URL(name, folder), "utf8"));
      }
    });

    it("lists the Markdown of the pages of the navigation at /llms.txt, each with a sentence and a link below any path", async () => {
      const response = await fetch(`${served.app.url}/llms.txt`);
      expect(response.headers.get("content-type")).to.equal("text/plain; charset=utf-8");
      const lines = [...(await response.text()).matchAll(/^- \[(.+)\]\((docs[^)]*)\): (.+)$/gm)];
      const listed = lines.map(
        ([, title = "", to = ""]) => `/${to.replace(/(?:\/index)?\.md$/, "")} ${title}`,
      );
      const navigation = /<nav .*<\/nav>/s.exec(pages.get("/docs")?.text ?? "")?.[0] ?? "";
      const linked = [...navigation.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)</g)].map(
        ([, to = "", title = ""]) => `/${to} ${title.replaceAll("&#39;", "'")}`,
      );
      expect(listed).to.deep.equal(linked);
      for (const [line, , , sentence = ""] of lines) {
        expect(sentence, line).to.match(/^[A-Z`].{15,}[.?:]$/);
      }
    });

    it("runs without inline scripts or styles, and asks no other host for anything", () => {
      for (const [path, { text, headers }] of pages) {
        if (headers.get("content-type")?.startsWith("text/html") !== true) continue;
        expect(headers.get("content-security-policy"), path).to.contain("default-src 'none'");
        expect(text, path).not.to.match(/<script>|<style|\son\w+=|\sstyle=/);
        expect(text, path).not.to.match(
          /<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//,
        );
      }
    });

    it("opens with less than 30 KB, and no page has more than 60 KB", async () => {
      const sizeOf = async (path: string): Promise<number> => {
        const headers = { "Accept-Encoding": "gzip" };
        const answer = await served.app.request("GET", path, { headers });
        expect(answer.status, path).to.equal(200);
        return Number(answer.headers.get("content-length"));
      };
      // A browser's test below holds that these are all that a page loads.
      const files = ["/docs/manual.css", "/docs/manual.js"];
      const shared = await Promise.all(files.map(sizeOf));
      const opening = shared.reduce((sum, size) => sum + size, await sizeOf("/docs"));
      expect(opening).to.be.within(1_000, 30_000);
      for (const path of pages.keys()) expect(await sizeOf(path), path).to.be.below(60_000);
    });

    it("has an index of its text, without the examples of the reference, in less than 150 KB", async () => {
      const headers = { "Accept-Encoding": "gzip" };
      const answer = await served.app.request("GET", "/docs/search.json", { headers });
      expect(Number(answer.headers.get("content-length"))).to.be.within(10_000, 150_000);
      const entries = answer.body as unknown as readonly (readonly [string, string, string])[];
      const wordsAt = (path: string) => entries.find(([each]) => each === path)?.[2].split(" ");
      expect(wordsAt("docs/guides/odd-payments#late-payments")).to.include("latewindowdays");
      expect(wordsAt("docs/guides/webhooks")).to.include("127.0.0.1");
      expect(wordsAt("docs/api/invoices#createInvoice")).not.to.include("urllib.request");
      // The search finds a word as a part of another one.
      const late = wordsAt("docs/guides/odd-payments#late-payments") ?? [];
      expect(late).not.to.include("late");
      expect(late.join(" ")).to.include("late");
    });

    it("is revalidated, and sends what is known only once", async () => {
      const first = await fetch(`${served.app.url}/docs/glossary`);
      const headers = { "If-None-Match": first.headers.get("etag") ?? "" };
      expect(first.headers.get("cache-control")).to.equal("no-cache");
      expect((await fetch(`${served.app.url}/docs/glossary`, { headers })).status).to.equal(304);
    });

    it("leads from a trailing slash to the page, and answers unknown and hostile paths with 404", async () => {
      for (const path of ["/docs", "/docs/guides/webhooks"]) {
        const response = await fetch(`${served.app.url}${path}/`, { redirect: "manual" });
        const to = new URL(response.headers.get("location") ?? "", `${served.app.url}${path}/`);
        expect(to.pathname).to.equal(path);
      }
      for (const path of [
        ...["/docs/nothing", "/docs/guides", "/docs/guides/nothing", "/docs/openapi.json"],
        ...["/docs/..%2fpackage.json", "/docs/guides/..%2f..%2fpackage", "/docs/constructor"],
        ...[
          "/docs/guides/nothing.md",
          "/docs/..%2fREADME.md",
          "/docs.md",
          "/docs/manual/manual.css",
          "/docs/a/b/c",
        ],
      ]) {
        expect((await fetch(`${served.app.url}${path}`)).status, path).to.equal(404);
      }
    });
  },
  { background: false },
);

describeInBrowser("the manual in a browser", (browser) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ background: false });
  });
  after(() => app.stop());

  it("loads a style and a script with a page, and the index only when a reader searches", async () => {
    const page = await browser().newPage();
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await page.goto(`${app.url}/docs`, { waitUntil: "networkidle" });
    const opening = ["/docs", "/docs/manual.css", "/docs/manual.js"];
    expect(loaded).to.have.members(opening);
    await page.getByLabel("Search the manual").fill("webhook");
    await page.locator("#found a").first().waitFor();
    expect(loaded).to.have.members([...opening, "/docs/search.json"]);
    await page.close();
  });

  it("leads the keyboard past the navigation to the content", async () => {
    const page = await browser().newPage();
    await page.goto(`${app.url}/docs/guides/webhooks`);
    await page.keyboard.press("Tab");
    const skip = page.getByRole("link", { name: "Skip to content" });
    expect((await skip.boundingBox())?.x).to.equal(0);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    const focused = "document.activeElement.closest('main') !== null";
    expect(await page.evaluate(focused)).to.equal(true);
    await page.close();
  });

  it("fits a phone in both themes, and finds an operation without another host", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser().newPage({ colorScheme, viewport: { width: 320, height: 640 } });
      const faults: string[] = [];
      page.on("console", (message) => faults.push(message.text()));
      page.on("request", (request) => {
        if (!request.url().startsWith(app.url)) faults.push(request.url());
      });
      for (const path of ["docs", "docs/api/invoices", "docs/settings", "docs/guides/webhooks"]) {
        await page.goto(`${app.url}/${path}`);
        const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
        expect(widths, path).to.deep.equal([320, 320]);
      }
      await page.getByLabel("Search the manual").fill("create an invoice");
      await page.getByRole("link", { name: "Create an invoice (createInvoice)" }).click();
      await page.waitForURL("**/docs/api/invoices#createInvoice");
      // The examples of all operations are in the language that the reader chose last.
      const open = page.locator("details[name=createInvoice][open] summary");
      expect(await open.allTextContents()).to.deep.equal(["curl"]);
      await page.locator("details[name=listInvoices] summary", { hasText: "Python" }).click();
      await page.locator("details[name=createInvoice][open]", { hasText: "Python" }).waitFor();
      await page.goto(`${app.url}/docs/api/customers`);
      await page.locator("details[name=createCustomer][open]", { hasText: "Python" }).waitFor();
      expect(faults).to.deep.equal([]);
      await page.close();
    }
  });
});
