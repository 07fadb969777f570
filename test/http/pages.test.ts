import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { features } from "../../src/features/index.ts";
import { anyServed } from "../support/app.ts";
import { expectProblem } from "./problem.ts";

const path = "/pay/chk_0123456789abcdefghjkmnpqrstvwxyz/sandbox";
const sendingPages = features.flatMap(({ pages = [] }) =>
  pages.filter(({ method }) => method === "POST"),
);
const form = { "Content-Type": "application/x-www-form-urlencoded" };

anyServed("the form of a page", (served) => {
  const post = (raw: string | undefined, headers: Record<string, string> = form) =>
    served.app.request("POST", path, {
      ...(raw === undefined ? {} : { raw }),
      headers: { Accept: "application/json", ...headers },
    });

  it("is parsed as a browser sends it, and the page of an unknown invoice is not found", async () => {
    for (const raw of [
      "action=pay",
      "action=pay&action=mine",
      "__proto__=1&constructor[prototype]=2&a[b][c]=1",
      "action=%E0%A4%A",
      "action=%00",
      "=&&==",
      Array.from({ length: 1_500 }, (_, n) => `a${String(n)}=1`).join("&"),
    ]) {
      expectProblem(await post(raw), 404, "not_found");
    }
    expect(({} as Record<string, unknown>)["a"]).to.equal(undefined);
  });

  it("is refused if it is malformed", async () => {
    const shown = await fetch(served.app.url + path, { method: "POST", body: "action=pay" });
    expect(shown.status).to.equal(415);
    expect(await shown.text()).to.contain("so nothing has changed");
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", ""]) {
      const answer = await post("action=pay", { "Content-Type": type });
      expectProblem(answer, 415, "unsupported_media_type");
    }
    expectProblem(await post(undefined, {}), 415, "unsupported_media_type");
    const zipped = (encoding: string) =>
      post("action=pay", { ...form, "Content-Encoding": encoding });
    expectProblem(await zipped("zstd"), 415, "unsupported_media_type");
    expectProblem(await zipped("gzip"), 400, "invalid_request");
  });

  it("is refused if a page of another site sends it, whatever the form", async () => {
    expect(sendingPages.length).to.be.greaterThan(5);
    for (const { path: each } of sendingPages) {
      const sent = each
        .replace("{checkoutId}", "chk_0123456789abcdefghjkmnpqrstvwxyz")
        .replaceAll(/\{\w+\}/g, "lnk_01kq3v5m8w2f6n9r4t7x0z1c3e");
      const from = (site: string) =>
        served.app.request("POST", sent, {
          raw: "amount=1",
          headers: { Accept: "application/json", ...form, "Sec-Fetch-Site": site },
        });
      expectProblem(await from("cross-site"), 403, "cross_site_form");
      for (const site of ["same-origin", "same-site", "none"]) {
        expect((await from(site)).body["code"], `${each} from ${site}`).not.to.equal(
          "cross_site_form",
        );
      }
    }
    const shown = await fetch(served.app.url + path, {
      method: "POST",
      body: "action=pay",
      headers: { ...form, "Sec-Fetch-Site": "cross-site" },
    });
    expect(shown.status).to.equal(403);
    expect(await shown.text()).to.contain("so nothing has changed");
    // The payer can send the form of the link's own page, also if the other site cannot be gone back to.
    const link = "/link/lnk_01kq3v5m8w2f6n9r4t7x0z1c3e?lang=de";
    const linked = await fetch(served.app.url + link, {
      method: "POST",
      body: "amount=1",
      headers: { ...form, "Sec-Fetch-Site": "cross-site" },
    });
    expect(await linked.text()).to.contain(`<a class="button" href="${link}">`);
  });

  it("is refused if it exceeds the limit", async () => {
    expectProblem(await post(`action=${"x".repeat(17_000)}`), 413, "payload_too_large");
    const unpacked = Buffer.concat([Buffer.from("action="), Buffer.alloc(1_024 ** 2, 120)]);
    for (const [encoding, packed] of [
      ["gzip", gzipSync(unpacked)],
      ["deflate", deflateSync(unpacked)],
      ["br", brotliCompressSync(unpacked)],
    ] as const) {
      expect(packed.byteLength, encoding).to.be.lessThan(16 * 1_024);
      const answer = await served.app.request("POST", path, {
        raw: packed,
        headers: { Accept: "application/json", ...form, "Content-Encoding": encoding },
      });
      expectProblem(answer, 413, "payload_too_large");
    }
    expect((await served.app.request("GET", "/healthz")).status).to.equal(200);
  });
});
